"""
`make bench [AREA…]`: run every benchmark, print the table, fail when a number misses its limit.

A benchmark is a module `bench_<area>.py` with `run() -> list[Result]`.
"""

import gc
import importlib
import pkgutil
import sys
import traceback

import benchmarks
from benchmarks.result import Result


def main(areas: list[str]) -> int:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[:6] == "bench_"]
    chosen = [name for name in names if not areas or name.removeprefix("bench_") in areas]
    failed = 0
    for name in chosen:
        print(f"\n{name.removeprefix('bench_')}", flush=True)
        gc.collect()
        gc.freeze()  # the objects of the areas before are looked through for none of this one's
        try:
            results = importlib.import_module(f"benchmarks.{name}").run()
        except Exception:  # noqa: BLE001  # one area's trouble must not hide the numbers of the others
            traceback.print_exc()
            failed += 1
            continue
        failed += sum(not _show(result) for result in results)
    print(f"\n{failed} missed" if failed else "\nEvery number is within its limit")
    return 1 if failed else 0


def _show(result: Result) -> bool:
    sign = ">=" if result.higher_is_better else "<="
    mark = "ok  " if result.ok else "MISS"
    limit = f"{sign} {result.limit:g} {result.unit}"
    note = f"  ({result.note})" if result.note else ""
    print(f"  {mark} {result.name:<60} {result.value:10.4g} {limit}{note}", flush=True)
    return result.ok


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

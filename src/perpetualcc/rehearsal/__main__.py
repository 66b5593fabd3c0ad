"""`python -m perpetualcc.rehearsal scenario.yaml`: the scripted model as a process."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal.reader import load_scenario
from perpetualcc.rehearsal.schema import key_tables
from perpetualcc.rehearsal.server import RehearsalServer


def main(arguments: list[str] | None = None) -> int:
    """Serve a scenario until interrupted. Prints the URL first, mismatches last."""
    parser = argparse.ArgumentParser(prog="python -m perpetualcc.rehearsal", description=__doc__)
    parser.add_argument("scenario", type=Path, nargs="?")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--record", type=Path, help="add every request to this JSONL file")
    parser.add_argument("--pace", type=float, default=1.0, help="multiply every wait; 0 for none")
    parser.add_argument("--check", action="store_true", help="only say whether it can be played")
    parser.add_argument("--keys", action="store_true", help="show every key a scenario may have")
    given = parser.parse_args(arguments)
    if given.keys:
        print(key_tables())
        return 0
    if given.scenario is None:
        parser.error("a scenario file is needed")
    try:
        scenario = load_scenario(given.scenario)
        if given.check:
            print(scenario.summary)
            return 0
        server = RehearsalServer(scenario, port=given.port, record=given.record, pace=given.pace)
        return asyncio.run(_serve(server))
    except PerpetualError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint:  {error.hint}", file=sys.stderr)
        return 1


async def _serve(server: RehearsalServer) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with server:
        print(server.url, flush=True)
        await stop.wait()
    for mismatch in server.mismatches:
        print(mismatch, file=sys.stderr)
    return 1 if server.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every module imports where nothing is that only Linux has."""

import subprocess
import sys

AS_ON_MACOS = """
import importlib, os, pkgutil, select, signal, socket, sys, sysconfig, types

sysconfig.get_config_vars()  # the interpreter's own, whose file is named for its platform

for module, names in {
    os: "sched_getaffinity sched_setaffinity pidfd_open eventfd memfd_create pipe2 getrandom"
        " posix_fallocate posix_fadvise copy_file_range splice setns unshare timerfd_create"
        " getxattr listxattr setxattr O_TMPFILE O_PATH O_DIRECT O_LARGEFILE",
    select: "epoll EPOLLIN",
    signal: "sigtimedwait sigwaitinfo pidfd_send_signal SIGRTMIN SIGRTMAX SIGPWR SIGPOLL",
    socket: "SO_PEERCRED SO_PASSCRED SO_DOMAIN SOCK_CLOEXEC SOCK_NONBLOCK TCP_USER_TIMEOUT",
}.items():
    for name in names.split():
        vars(module).pop(name, None)
sys.platform = "darwin"
sys.modules["_scproxy"] = types.SimpleNamespace(_get_proxy_settings=dict, _get_proxies=dict)

import perpetualcc
found = [one.name for one in pkgutil.walk_packages(perpetualcc.__path__, "perpetualcc.")]
for name in found:
    if not name.endswith("__main__"):
        importlib.import_module(name)

from perpetualcc.domain.locations import SOCKET_PATH_LIMIT
print(len(found), SOCKET_PATH_LIMIT)
"""


def test_every_module_imports_without_what_only_linux_has() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", AS_ON_MACOS],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    modules, limit = map(int, done.stdout.split())
    assert modules > 400
    assert limit == 103

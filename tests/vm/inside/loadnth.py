# SPDX-License-Identifier: GPL-2.0-only
"""
loadnth.py MODULE.ko: loads the module with its first allocation failing, then with its second,
and so on until it makes no more. It must load as a whole or not at all: a failed attempt must
leave nothing behind, or the next one would fail because of that, and no cache of its own. Other
leaks are not checked, because the kernel leaks the name of a cache that it could not show in
sysfs.
"""
import ctypes
import errno
import os
import sys

FINIT_MODULE, DELETE_MODULE = 313, 176  # of x86-64
nth = os.open("/proc/thread-self/fail-nth", os.O_RDWR | os.O_CLOEXEC)
libc = ctypes.CDLL(None, use_errno=True)


def settings():
    """Allocations that may sleep fail, too, and pages one by one."""
    for kind in ("failslab", "fail_page_alloc"):
        for name, value in (("verbose", "0"), ("ignore-gfp-wait", "N"), ("times", "-1")):
            with open(f"/sys/kernel/debug/{kind}/{name}", "w") as f:
                f.write(value)
    with open("/sys/kernel/debug/fail_page_alloc/min-order", "w") as f:
        f.write("0")


def call(number, *args):
    return 0 if libc.syscall(number, *args) == 0 else ctypes.get_errno()


# The file stays open: to open it again might be what fails.
def fail_nth(n):
    os.pwrite(nth, str(n).encode(), 0)


def left():
    return int(os.pread(nth, 16, 0).strip(b"\0\n"))


def load(fd, n):
    """Return: an errno or 0, and whether an allocation failed."""
    fail_nth(n)
    err = call(FINIT_MODULE, fd, b"", 0)
    failed = left() == 0
    fail_nth(0)
    return err, failed


def caches():
    """Return: names of the module's caches that there are."""
    with open("/proc/slabinfo") as f:
        return [line.split()[0] for line in f if line.startswith(f"{name.decode()}_")]


path = sys.argv[1]
name = os.path.basename(path).removesuffix(".ko").encode()
fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
settings()
refused = 0
n = 1
while True:
    err, failed = load(fd, n)
    if err not in (0, errno.ENOMEM):
        sys.exit(f"with allocation {n} failing: {os.strerror(err)}")
    if os.path.exists(f"/sys/module/{name.decode()}") != (not err):
        sys.exit(f"with allocation {n} failing it is neither loaded nor away")
    if err and caches():
        sys.exit(f"with allocation {n} failing it leaves behind {caches()}")
    refused += bool(err)
    if not err:
        # It may be in use for a moment by what told of it.
        while call(DELETE_MODULE, name, os.O_NONBLOCK):
            pass
    if not failed:
        break
    n += 1
if err or not refused:
    sys.exit(os.strerror(err) if err else "no allocation failed: this was no test")
print(f"ok - the module is loaded with allocations failing: {refused} of fewer than {n} made "
      "it fail")
print("1..1")

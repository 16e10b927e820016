#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Watches what "fabricctl ... --watch" draws, as a user at a terminal does.

	watch.py CHANGE COMMAND...

Starts COMMAND on a terminal of its own. When it has drawn two equal frames, runs CHANGE in a
shell; when a frame differs from these, presses Ctrl-C. Prints the last frame, and exits with 0 if
all of this happened within a minute and the command ended by that signal.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

CLEAR = b"\033[H\033[2J"


def frames(screen):
    """Those that are complete, for another one follows; without how long ago something was."""
    return [re.sub(rb"[0-9.]+ \w+ ago", b"", f) for f in screen.split(CLEAR)[1:-1]]


def main(change, command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", NO_COLOR="")
        os.execvp(command[0], command)
    screen, alike, end = b"", None, time.monotonic() + 60
    while True:
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"{command}: no change is shown after a minute, but {frames(screen)[-1:]}")
        try:
            screen += os.read(terminal, 65536)
        except OSError:
            sys.exit(f"{command}: ended by itself, after {screen.decode()}")
        seen = frames(screen)
        if alike is None and len(seen) > 1 and seen[-1] == seen[-2]:
            alike = seen[-1]
            subprocess.run(change, shell=True, check=True, stdout=subprocess.DEVNULL)
        elif alike is not None and seen[-1] != alike:
            break
    signal.alarm(60)
    os.write(terminal, b"\x03")
    status = os.waitpid(pid, 0)[1]
    print(seen[-1].decode())
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGINT:
        sys.exit(f"{command}: ended with status {status}, not by SIGINT")


main(sys.argv[1], sys.argv[2:])

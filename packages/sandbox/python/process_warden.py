"""Ends what a call of `process` left running, and all of `process` and `bubblewrap` when the engine is gone.

Every process of a call inherits INTERLACE_CALL in its environment. Input: one mark a line; each is
answered by itself once no process bears a mark that begins so. End of input: the engine ended, so
its own mark (the first argument) is swept and its folder (the second) removed.
Cannot see a process that replaced its environment; needs /proc.
"""

import os
import shutil
import signal
import sys


def bearers(mark: bytes) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue  # ended meanwhile, or another user's
        if environment.startswith(mark) or b"\0" + mark in environment:
            found.append(int(name))
    return found


def sweep(mark: bytes) -> None:
    # A process may fork while it is being looked for: done only when a whole pass finds none.
    for _ in range(100):
        pids = bearers(mark)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def main(own: str, folder: str) -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sweep(f"INTERLACE_CALL={line.strip()}".encode())
        sys.stdout.write(line)
        sys.stdout.flush()
    sweep(f"INTERLACE_CALL={own}".encode())
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Tries to get out, once, before a sandbox is handed over: claims of isolation are checked by doing.

Runs as a program of the model would. Stdin: what the engine laid out as bait, as JSON. Stdout: per line
of the isolation report whether it held, as JSON; `python` = what the interpreter needs but cannot read.
"""

import ctypes
import importlib
import json
import os
import resource
import socket
import sys

bait = json.load(sys.stdin)


def refused(action):
    try:
        action()
    except OSError:
        return True
    return False


def connect():
    with socket.socket() as connection:
        connection.settimeout(1)
        connection.connect(("127.0.0.1", bait["port"]))


def unshare():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def finite(limit):
    return resource.getrlimit(limit)[0] != resource.RLIM_INFINITY


def unreadable(folders):
    missing = [folder for folder in folders if refused(lambda folder=folder: os.listdir(folder))]
    try:
        importlib.import_module("colorsys")  # small, and nothing else imports it
    except ImportError as error:
        missing.append(str(error))
    return missing


missing = unreadable(bait["folders"])
if missing:
    print(json.dumps({"python": missing, "lines": {}}))
    sys.exit()

disk = os.statvfs(".")
print(
    json.dumps(
        {
            "python": [],
            "lines": {
                "clean_environment": bait["variable"] not in os.environ,
                "private_files": refused(lambda: os.listdir(bait["calls"])),
                "no_host_read": refused(lambda: open(bait["secret"]).close()),
                "no_network": refused(connect),
                "private_processes": refused(lambda: os.kill(bait["pid"], 0)),
                "memory_per_process": finite(resource.RLIMIT_AS),
                "process_count": finite(resource.RLIMIT_NPROC),
                "disk_total": disk.f_blocks * disk.f_frsize <= bait["disk"],
                "syscall_filter": refused(unshare),
            },
        }
    )
)

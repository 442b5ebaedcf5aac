"""The system call filter: everything but what opens the host, the kernel or other calls.

A list of refusals, not of permissions: numeric libraries may call what they like otherwise. Refused
calls answer EPERM, so that a program sees an ordinary PermissionError.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from . import syscalls

# Name: number on x86-64, on aarch64 (None = does not exist there).
Table = dict[str, tuple[int | None, int | None]]

REFUSED: Table = {
    # sockets; socketpair stays, multiprocessing and asyncio live on it
    "socket": (41, 198),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # wide doors into the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "memfd_secret": (447, 447),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "set_mempolicy_home_node": (450, 450),
    # memory that would outlive a call or be shared with another
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # the machine
    "reboot": (169, 142),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "iopl": (172, None),
    "ioperm": (173, None),
    "syslog": (103, 116),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
    "uselib": (134, None),
    "sysfs": (139, None),
}

# Landlock cannot refuse these on files outside; without a mount namespace they must go altogether.
REFUSED_WITHOUT_NAMESPACES: Table = {
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}

# Done without doing it. What a call starts stays in the process group by which it is ended, and in the
# session whose members share one share of the processor: 64 sessions would starve the engine.
IGNORED: Table = {
    "setpgid": (109, 154),
    "setsid": (112, 157),
}

# In a jail these make the call's own namespaces and folders.
NEEDED_TO_CONFINE = ("unshare", "setns", "mount")

_COLUMN = {"x86_64": 0, "aarch64": 1}
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_X32_BIT = 0x40000000
_NAMESPACE_FLAGS = 0x7E020080  # every CLONE_NEW*

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_REFUSE = _ERRNO | errno.EPERM
_PRETEND = _ERRNO  # no error: the call seems to succeed with 0

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def supported() -> bool:
    return syscalls.MACHINE in _COLUMN


def build(refused: Table, ignored: Table) -> bytes:
    """A whole filter, as an array of `struct sock_filter`."""
    return _pack(
        [
            # Another architecture's calls have other numbers: whoever makes one is killed.
            (_LOAD, 0, 0, _ARCH),
            (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[syscalls.MACHINE]),
            (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NUMBER),
            (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
            (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
            # Its flags lie in memory, out of a filter's sight; libc falls back to `clone`.
            (_JUMP_EQUAL, 0, 1, _CLONE3),
            (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
            (_JUMP_EQUAL, 0, 4, _CLONE[syscalls.MACHINE]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_JUMP_SET, 0, 1, _NAMESPACE_FLAGS),
            (_RETURN, 0, 0, _ERRNO | errno.EPERM),
            (_LOAD, 0, 0, _NUMBER),
            *_search(_ranges(_answers(refused, ignored))),
        ]
    )


def build_more(refused: Table, ignored: Table) -> bytes:
    """For a process that has a whole filter already: this comes on top. The kernel asks both."""
    return _pack([(_LOAD, 0, 0, _NUMBER), *_search(_ranges(_answers(refused, ignored)))])


def of_template(namespaces: bool) -> Table:
    """What the template can do without while it makes workers: it and they are rid of it at once."""
    needed = NEEDED_TO_CONFINE if namespaces else ()
    return {name: row for name, row in REFUSED.items() if name not in needed}


def of_worker(namespaces: bool) -> tuple[Table, Table]:
    """Refused and ignored besides. Installing a short filter costs a call less than a long one."""
    if namespaces:
        return {name: REFUSED[name] for name in NEEDED_TO_CONFINE}, IGNORED
    return REFUSED_WITHOUT_NAMESPACES, IGNORED


def _pack(program: list[Instruction]) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _answers(refused: Table, ignored: Table) -> dict[int, int]:
    column = _COLUMN[syscalls.MACHINE]
    tables = ((refused, _REFUSE), (ignored, _PRETEND))
    answers = ((row[column], answer) for table, answer in tables for row in table.values())
    return {number: answer for number, answer in answers if number is not None}


def _ranges(answers: dict[int, int]) -> list[tuple[int, int]]:
    """From which number on which answer holds."""
    starts = [(0, answers.get(0, _ALLOW))]
    for number in sorted(answers.keys() | {number + 1 for number in answers}):
        answer = answers.get(number, _ALLOW)
        if answer != starts[-1][1]:
            starts.append((number, answer))
    return starts


def _search(ranges: list[tuple[int, int]]) -> list[Instruction]:
    """By halves: the kernel tries the filter on every number when it is installed, at every call."""
    if len(ranges) == 1:
        return [(_RETURN, 0, 0, ranges[0][1])]
    middle = len(ranges) // 2
    lower, upper = _search(ranges[:middle]), _search(ranges[middle:])
    return [(_JUMP_AT_LEAST, len(lower), 0, ranges[middle][0]), *lower, *upper]


def install(program: bytes) -> None:
    """For this process and all it will start, for good. Needs NO_NEW_PRIVS."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    pointer = ctypes.create_string_buffer(header, len(header))
    syscalls.prctl(syscalls.PR_SET_SECCOMP, 2, ctypes.addressof(pointer))

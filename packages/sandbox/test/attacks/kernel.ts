import { attempt, attemptSyscall, HELD, type Attack } from "./attack.ts";

/** Numbers of x86-64, from the kernel's own table. */
const CALLS: readonly (readonly [name: string, number: number, ...args: string[]])[] = [
  ["unshare of a user namespace", 272, "0x10000000"],
  ["unshare of a mount namespace", 272, "0x20000"],
  ["setns", 308, "0", "0"],
  ["clone into a user namespace", 56, "0x10000000 | 17", "0", "0", "0", "0"],
  ["clone into a network namespace", 56, "0x40000000 | 17", "0", "0", "0", "0"],
  ["clone3", 435, "0", "64"],
  ["mount", 165, "0", "0", "0", "0", "0"],
  ["umount2", 166, "0", "2"],
  ["pivot_root", 155, "0", "0"],
  ["chroot", 161, "0"],
  ["open_tree", 428, "-100", "0", "1"],
  ["move_mount", 429, "0", "0", "0", "0", "0"],
  ["fsopen", 430, "0", "0"],
  ["fsmount", 432, "0", "0", "0"],
  ["mount_setattr", 442, "-100", "0", "0", "0", "0"],
  ["open_by_handle_at", 304, "-100", "0", "0"],
  ["ptrace", 101, "16", "1", "0", "0"],
  ["process_vm_readv", 310, "1", "0", "0", "0", "0", "0"],
  ["process_vm_writev", 311, "1", "0", "0", "0", "0", "0"],
  ["kcmp", 312, "1", "1", "0", "0", "0"],
  ["pidfd_getfd", 438, "0", "0", "0"],
  ["bpf", 321, "0", "0", "0"],
  ["perf_event_open", 298, "0", "0", "-1", "-1", "0"],
  ["userfaultfd", 323, "1"],
  ["io_uring_setup", 425, "1", "0"],
  ["io_uring_enter", 426, "0", "0", "0", "0", "0", "0"],
  ["add_key", 248, "0", "0", "0", "0", "-4"],
  ["request_key", 249, "0", "0", "0", "0"],
  ["keyctl", 250, "0", "-4", "1"],
  ["memfd_secret", 447, "0"],
  ["modify_ldt", 154, "0", "0", "0"],
  ["personality", 135, "0x0040000"],
  ["kexec_load", 246, "0", "0", "0", "0"],
  ["init_module", 175, "0", "0", "0"],
  ["delete_module", 176, "0", "0"],
  ["reboot", 169, "0", "0", "0", "0"],
  ["swapon", 167, "0", "0"],
  ["acct", 163, "0"],
  ["syslog", 103, "3", "0", "0"],
  ["sethostname", 170, "0", "0"],
  ["settimeofday", 164, "0", "0"],
  ["iopl", 172, "3"],
  ["quotactl", 179, "0", "0", "0", "0"],
  ["fanotify_init", 300, "0", "0"],
  ["shmget", 29, "0x1234", "4096", "0o1666"],
  ["semget", 64, "0x1234", "1", "0o1666"],
  ["msgget", 68, "0x1234", "0o1666"],
  ["mq_open", 240, "0", "0o102", "0o666", "0"],
  ["migrate_pages", 256, "0", "0", "0", "0"],
  ["vhangup", 153],
];

/** Machine code in an executable map: what no library would do. */
const ASSEMBLY = `import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
def run(code):
    page.seek(0)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_long)(address)()
`;

export const KERNEL_ATTACKS: readonly Attack[] = [
  ...CALLS.map(([name, number, ...args]): Attack => ({
    name: `the call ${name}`,
    code: attemptSyscall(number, ...args),
    needs: ["syscall_filter"],
    ends: ["ok"],
    prints: HELD,
  })),
  {
    name: "calls of the 32-bit table by int 0x80",
    // mov eax, 20 (getpid of i386); int 0x80; ret
    code: `${ASSEMBLY}print('ESCAPED', run(bytes.fromhex('b814000000cd80c3')))`,
    needs: ["syscall_filter"],
    ends: ["killed"],
    prints: /^$/,
  },
  {
    name: "calls of the x32 table",
    // mov eax, 0x40000029 (socket); mov edi, 2; mov esi, 1; xor edx, edx; syscall; ret
    code: `${ASSEMBLY}got = run(bytes.fromhex('b829000040bf02000000be0100000031d20f05c3'))\nprint('HELD' if got < 0 else 'ESCAPED', got)`,
    needs: ["syscall_filter"],
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "the filter cannot be loosened",
    code: attempt(
      "(lambda r: os.write(99, b'') if r != 0 else r)(ctypes.CDLL(None).prctl(38, 0, 0, 0, 0))",
    ),
    needs: ["syscall_filter"],
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "a crash in C is told as one",
    code: "import ctypes\nctypes.memset(1, 0, 10)",
    ends: ["killed"],
  },
  {
    name: "an illegal instruction is told as one",
    code: `${ASSEMBLY}run(bytes.fromhex('0f0b'))`,
    ends: ["killed"],
  },
  {
    name: "a stack that overflows in C is told as a crash",
    code: "import sys, functools\nsys.setrecursionlimit(10**7)\nx = []\nfor _ in range(300000): x = [x]\nrepr(x)",
    ends: ["killed", "error"],
  },
];

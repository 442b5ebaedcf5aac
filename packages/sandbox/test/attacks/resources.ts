import { attempt, HELD, type Attack } from "./attack.ts";

const MiB = 1024 ** 2;
const TOUCH =
  "def touch(n):\n    x = bytearray(n)\n    for i in range(0, n, 4096): x[i] = 1\n    return x\n";
const small = { memoryBytes: 256 * MiB };

function fills(
  name: string,
  body: string,
  needs: Attack["needs"] = ["memory_per_process"],
  limits: Attack["limits"] = small,
): Attack {
  return {
    name,
    code: `${TOUCH}${body}\nprint('ESCAPED')`,
    limits,
    needs,
    ends: ["error", "memory_limit", "killed", "output_limit"],
    prints: /^(?![\s\S]*ESCAPED)/,
  };
}

export const MEMORY_ATTACKS: readonly Attack[] = [
  fills("a gigabyte in one block", "touch(1 << 30)"),
  fills("a list that grows", "x = []\nwhile True: x.append(touch(1 << 22))"),
  fills("a string that doubles", "x = 'x'\nwhile True: x += x"),
  fills(
    "a dictionary that grows",
    "d = {}\ni = 0\nwhile True:\n    d[i] = str(i) * 5000\n    i += 1",
  ),
  fills(
    "an anonymous map",
    "import mmap\nm = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1",
  ),
  fills("a factorial's worth of digits", "x = bytes(1 << 34)"),
  fills(
    "a recursion without end",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return [f()]\nf()",
    ["memory_per_process"],
    { memoryBytes: 48 * MiB }, // Python itself takes half a minute to unwind from 256
  ),
  {
    name: "six children with 300 MB each against 512 MB in sum",
    code: `${TOUCH}import os\npids = []\nfor _ in range(6):\n    pid = os.fork()\n    if pid == 0:\n        x = touch(300 << 20)\n        import time; time.sleep(1.5)\n        os._exit(0)\n    pids.append(pid)\nends = [os.waitpid(pid, 0)[1] for pid in pids]\nprint('HELD' if any(ends) else 'ESCAPED', ends)`,
    limits: { memoryBytes: 512 * MiB, wallSeconds: 15 },
    needs: ["memory_total"],
    ends: ["ok", "memory_limit"],
  },
  {
    name: "one process over the sum is ended by its limit",
    code: `${TOUCH}keep = [touch(64 << 20) for _ in range(6)]\nprint('ESCAPED')`,
    limits: { memoryBytes: 320 * MiB },
    needs: ["memory_total"],
    ends: ["memory_limit"],
  },
  {
    name: "files in memory count as memory",
    code: "import os\nfd = os.memfd_create('x')\nfor _ in range(60): os.write(fd, b'x' * (1 << 20))\nfds = [os.memfd_create(str(i)) for i in range(20)]\nfor f in fds:\n    for _ in range(40): os.write(f, b'x' * (1 << 20))\nprint('ESCAPED')",
    limits: small,
    needs: ["memory_total"],
    ends: ["memory_limit", "error"],
    prints: /^(?![\s\S]*ESCAPED)/,
  },
];

export const DISK_ATTACKS: readonly Attack[] = [
  {
    name: "a file of two gigabytes",
    code: attempt("[f.write(b'x' * (1 << 20)) for _ in range(2048)]", "f = open('big', 'wb')"),
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "a sparse file of ten gigabytes",
    code: attempt("open('sparse', 'wb').truncate(10 << 30)"),
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "forty files of sixty megabytes",
    code: attempt(
      "[open(str(i), 'wb', 0).write(b'x' * (60 << 20)) for i in range(40)].count(60 << 20) <= 2 and os.write(99, b'')",
    ),
    needs: ["disk_total"],
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "a hundred thousand files",
    code: attempt("[open(str(i), 'w').close() for i in range(100000)]"),
    needs: ["disk_total"],
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "shared memory filled up",
    code: attempt(
      "[open(f'/dev/shm/{i}', 'wb', 0).write(b'x' * (60 << 20)) for i in range(9)].count(60 << 20) <= 2 and os.write(99, b'')",
    ),
    needs: ["disk_total"],
    ends: ["ok"],
    prints: HELD,
  },
  {
    name: "folders three thousand deep are left behind",
    code: "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nprint('dug')",
    needs: ["disk_total"],
    ends: ["ok"],
    prints: /^dug/,
  },
  {
    name: "a folder that locks out its owner is removed",
    code: "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\ntry:\n    os.chmod('a/b', 0)\n    os.chmod('a', 0)\nexcept OSError: pass\nprint('locked')",
    ends: ["ok"],
    prints: /^locked/,
  },
  {
    name: "a loop of links is removed",
    code: "import os\nos.symlink('.', 'loop')\nos.symlink('/', 'host')\nprint('linked')",
    ends: ["ok"],
    prints: /^linked/,
  },
];

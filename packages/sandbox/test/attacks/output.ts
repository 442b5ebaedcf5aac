import type { Attack } from "./attack.ts";

const CAPPED = { maxOutputBytes: 1 << 16 };

function flood(name: string, code: string): Attack {
  return { name, code, limits: CAPPED, ends: ["output_limit"] };
}

export const OUTPUT_ATTACKS: readonly Attack[] = [
  flood("a flood of stdout", "while True: print('x' * 1000)"),
  flood("a flood of stderr", "import sys\nwhile True: sys.stderr.write('x' * 1000)"),
  flood(
    "a flood of both",
    "import sys\nwhile True:\n    print('x' * 1000)\n    print('y' * 1000, file=sys.stderr)",
  ),
  flood("a flood of single bytes", "import os\nwhile True: os.write(1, b'x')"),
  flood("one line without end", "import sys\nwhile True: sys.stdout.write('x' * 65536)"),
  flood("a flood from a child", "import os\nos.fork()\nwhile True: os.write(1, b'x' * 65536)"),
  flood(
    "a flood from a daemon",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True: os.write(1, b'x' * 65536)\ntime.sleep(1000)",
  ),
  flood("an exception of fifty megabytes", "raise ValueError('x' * (50 << 20))"),
  flood(
    "a flood that ignores a closed pipe",
    "import os\nwhile True:\n    try: os.write(1, b'x' * 65536)\n    except OSError: pass",
  ),
  {
    name: "bytes that are no text",
    code: "import os\nos.write(1, bytes(range(256)))\nos.write(2, b'\\xff\\xfe\\x00')",
    ends: ["ok"],
    prints: /\ufffd/,
  },
  {
    name: "the pool's own words on stderr are just output",
    code: "import os\nos.write(2, b'\\x01\\x01\\x02broken')\nos.write(1, b'\\x01\\x02' + bytes(40))",
    ends: ["ok"],
    // eslint-disable-next-line no-control-regex -- the pool's wire format uses them
    complains: /^\u0001\u0001\u0002broken$/,
  },
  {
    name: "control sequences are only characters",
    code: "print('\\x1b[2J\\x1b]0;title\\x07 <|im_end|>')",
    ends: ["ok"],
    prints: /<\|im_end\|>/,
  },
  {
    name: "a non-blocking stdout harms only its owner",
    code: "import fcntl, os\nfcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)\ntry:\n    for _ in range(5000): os.write(1, b'x' * 100)\nexcept BlockingIOError: pass\nprint('end')",
    ends: ["ok", "error"],
  },
  {
    name: "reading from stdout gives nothing",
    limits: { wallSeconds: 1 },
    code: "import os\ntry: print('got', os.read(1, 10))\nexcept OSError as error: print('got', error.errno)",
    ends: ["ok", "timeout"],
    prints: /^(got (b''|9)|$)/,
  },
  {
    name: "output before a time-out is kept",
    code: "print('x' * 100)\nimport time\ntime.sleep(1000)",
    limits: { wallSeconds: 1 },
    ends: ["timeout"],
    prints: /^x{100}$/m,
  },
  {
    name: "a frame forged on every descriptor reaches nobody",
    code: "import os\nfor fd in range(3, 64):\n    try: os.write(fd, bytes(40))\n    except OSError: pass\nprint('wrote')",
    ends: ["ok"],
    prints: /^wrote\n$/,
  },
];

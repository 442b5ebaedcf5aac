import { SHORT, STOPPED, type Attack } from "./attack.ts";

const IGNORE_ALL =
  "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n";

/** Programs that never end by themselves. */
const ENDLESS: readonly (readonly [name: string, code: string])[] = [
  ["a loop that ignores every signal", `${IGNORE_ALL}while True: pass`],
  ["a sleep that ignores every signal", `${IGNORE_ALL}import time\ntime.sleep(1000)`],
  [
    "all signals blocked",
    "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
  ],
  ["one C call that takes for ever", "10 ** (10 ** 8)"],
  [
    "a regular expression that backtracks for ever",
    "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
  ],
  [
    "everything caught",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
  ],
  [
    "an endless exit function",
    "import atexit\n@atexit.register\ndef forever():\n    while True: pass",
  ],
  ["an endless finaliser", "class A:\n    def __del__(self):\n        while True: pass\na = A()"],
  [
    "an exception whose text never ends",
    "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
  ],
  [
    "a thread that never ends",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()",
  ],
  [
    "both outputs closed, then asleep",
    "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(1000)",
  ],
  ["waiting for a signal", "import signal\nsignal.pause()"],
  [
    "waiting for a child that sleeps",
    "import os, time\npid = os.fork()\nif pid == 0: time.sleep(1000)\nos.waitpid(pid, 0)",
  ],
  [
    "a lock taken twice",
    "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
  ],
  ["a pipe that nobody writes", "import os\nr, w = os.pipe()\nos.read(r, 1)"],
  ["a select for ever", "import select\nselect.select([], [], [])"],
  ["an event loop for ever", "import asyncio\nasyncio.new_event_loop().run_forever()"],
  [
    "its own exit code for time-outs",
    "import os, time\nos.fork()\ntime.sleep(1000)\nos._exit(152)",
  ],
  [
    "an exit hook of the interpreter's",
    "import sys, time\nsys.excepthook = lambda *_: time.sleep(1000)\n1 / 0",
  ],
  [
    "a trace function for ever",
    "import sys\ndef trace(*_):\n    while True: pass\nsys.settrace(trace)\n(lambda: 0)()",
  ],
];

export const TIME_ATTACKS: readonly Attack[] = [
  ...ENDLESS.map(([name, code]): Attack => ({ name, code, limits: SHORT, ends: STOPPED })),
  {
    name: "spinning children of a sleeping parent",
    code: "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(1000)",
    limits: SHORT,
    ends: STOPPED,
  },
  {
    name: "CPU time is a limit of its own",
    code: "while True: pass",
    limits: { wallSeconds: 60, cpuSeconds: 1 },
    ends: ["cpu_limit"],
  },
  {
    name: "CPU time is a limit for who ignores its signal",
    code: `${IGNORE_ALL}while True: pass`,
    limits: { wallSeconds: 60, cpuSeconds: 1 },
    ends: ["cpu_limit", "killed"],
  },
];

import type { Attack } from "./attack.ts";

/** What wrecks the interpreter itself: the next call must not feel it. */
export const INTERPRETER_ATTACKS: readonly Attack[] = [
  {
    name: "built-in functions replaced",
    code: "import builtins\nbuiltins.len = builtins.print = builtins.open = builtins.compile = None",
    ends: ["ok"],
  },
  {
    name: "every module removed",
    code: "import sys\nsys.modules.clear()\nraise ValueError('x')",
    ends: ["error"],
    complains: /ValueError/,
  },
  {
    name: "the traceback module replaced",
    code: "import traceback\ntraceback.TracebackException = None\n1 / 0",
    ends: ["error"],
    complains: /ZeroDivisionError/,
  },
  {
    name: "the sandbox's own modules vandalised",
    code: "import sys\nfor name, module in list(sys.modules.items()):\n    if name.startswith('interlace'):\n        for key in list(vars(module)): setattr(module, key, None)\n1 / 0",
    ends: ["error"],
  },
  {
    name: "streams closed and replaced",
    code: "import sys, os\nsys.stdout.close()\nsys.stderr = None\nsys.stdin = 5\nos.close(0)",
    ends: ["ok", "error"],
  },
  {
    name: "exit functions cleared",
    code: "import atexit, os\natexit._clear()\nos._exit = None\nprint('x')",
    ends: ["ok", "error"],
  },
  {
    name: "a sys.exit in an exit function",
    code: "import atexit, sys\natexit.register(sys.exit, 9)\nprint('x')",
    ends: ["ok", "error"],
    prints: /^x/,
  },
  {
    name: "an exit code that pretends to be a time-out",
    code: "import os\nos._exit(152)",
    ends: ["error", "cpu_limit"],
  },
  {
    name: "a signal to itself that would pretend",
    code: "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)",
    ends: ["error", "killed", "cpu_limit"],
  },
  {
    name: "a hundred thousand parentheses",
    code: `${"(".repeat(100_000)}${")".repeat(100_000)}`,
    ends: ["error", "killed"],
  },
  {
    name: "six megabytes of code",
    code: `${"x = 'some text'  # and a comment\n".repeat(180_000)}print(len(x))`,
    ends: ["ok"],
    prints: /^9\n/,
  },
  { name: "a NUL in the code", code: "print(1)\0print(2)", ends: ["error"] },
  {
    name: "an encoding that does not exist",
    code: "# coding: no-such-encoding\nprint(1)",
    ends: ["error"],
    complains: /SyntaxError/,
  },
  {
    name: "a core dump",
    code: "import os, resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))\nos.abort()",
    ends: ["killed"],
  },
  {
    name: "an audit hook that refuses everything",
    code: "import sys\ndef hook(*_): raise RuntimeError('no')\nsys.addaudithook(hook)\nopen('x')",
    ends: ["error"],
  },
  {
    name: "a garbage collector gone wild",
    code: "import gc\ngc.set_threshold(1)\ngc.unfreeze()\ngc.collect()\nprint(len(gc.get_objects()) > 0)",
    ends: ["ok"],
    prints: /^True/,
  },
];

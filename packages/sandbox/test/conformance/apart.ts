/** No two calls see each other: neither one after the other nor side by side. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { IsolationLine, OwnedSandbox } from "../../src/index.ts";
import { claims, exec, type Subject } from "./harness.ts";

type Trace = {
  readonly name: string;
  /** Leaves it, and looks whether somebody left it: prints True or False of what it found first. */
  readonly code: string;
  readonly needs?: IsolationLine;
};

const TRACES: readonly Trace[] = [
  {
    name: "a file in the folder of the call",
    code: "import os\nprint(os.path.exists('trace'))\nopen('trace', 'w').close()",
  },
  {
    name: "a file in the temporary folder",
    code: "import glob, os, tempfile\nprint(bool(glob.glob(tempfile.gettempdir() + '/trace*')))\nopen(tempfile.gettempdir() + '/trace', 'w').close()",
  },
  {
    name: "a file in shared memory",
    code: "import os\nprint(os.path.exists('/dev/shm/trace'))\ntry: open('/dev/shm/trace', 'w').close()\nexcept OSError: pass",
    needs: "private_files",
  },
  {
    name: "a shared memory segment",
    code: "import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.shmget(0x7ace, 4096, 0) >= 0)\nlibc.shmget(0x7ace, 4096, 0o1666)",
    needs: "syscall_filter",
  },
  {
    name: "a message queue",
    code: "import ctypes\nrt = ctypes.CDLL(None)\nprint(rt.msgget(0x7ace, 0) >= 0)\nrt.msgget(0x7ace, 0o1666)",
    needs: "syscall_filter",
  },
  {
    name: "a changed module",
    code: "import math\nprint(hasattr(math, 'trace'))\nmath.trace = 1",
  },
  {
    name: "a changed built-in",
    code: "import builtins\nprint(hasattr(builtins, 'trace'))\nbuiltins.trace = 1",
  },
  {
    name: "a changed environment",
    code: "import os\nprint('TRACE' in os.environ)\nos.environ['TRACE'] = '1'",
  },
  {
    name: "a new module",
    code: "import sys, types\nprint('trace_module' in sys.modules)\nsys.modules['trace_module'] = types.ModuleType('trace_module')",
  },
  {
    name: "an exit function and a signal handler",
    code: "import atexit, signal\nprint(signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL)\nsignal.signal(signal.SIGUSR1, print)\natexit.register(int)",
  },
];

const RANDOM = [
  "import random; print(random.random())",
  "import random; print(random.sample(range(10**9), 3))",
  "import os; print(os.urandom(8))",
  "import uuid; print(uuid.uuid4())",
  "import tempfile; print(tempfile.mktemp())",
];

const NUMPY_RANDOM = [
  "import numpy as np; print(np.random.rand())",
  "import numpy as np; print(np.random.default_rng().random())",
  "from sympy.core.random import rng; print(rng.random())",
];

export function apartSuite(subject: Subject): void {
  describe(`${subject.name} keeps calls apart:`, () => {
    let sandbox: OwnedSandbox;
    beforeAll(async () => {
      sandbox = await subject.make({ concurrency: 4, limits: { wallSeconds: 20 } });
    });
    afterAll(() => sandbox[Symbol.asyncDispose]());

    for (const { name, code, needs } of TRACES) {
      test.skipIf(!claims(subject, needs))(`${name} does not reach the next`, async () => {
        for (let call = 0; call < 6; call += 1) {
          expect((await exec(sandbox, code)).stdout.head).toBe("False\n");
        }
      });
    }

    test.each(RANDOM)("%s never says the same twice", (code) => allDiffer(code));
    test.skipIf(!subject.libraries).each(NUMPY_RANDOM)("%s never says the same twice", (code) =>
      allDiffer(code),
    );

    async function allDiffer(code: string): Promise<void> {
      const all = await Promise.all(Array.from({ length: 8 }, () => exec(sandbox, code)));
      expect(new Set(all.map((result) => result.stdout.head)).size).toBe(8);
    }

    const secluded = claims(subject, "private_processes") && claims(subject, "private_files");
    test.skipIf(!secluded)("an attacker beside a victim finds and ends nothing", async () => {
      const victim =
        "# MARKER-OF-A-VICTIM\nimport time\nopen('victim', 'w').write('mine')\ntime.sleep(1)\nprint(open('victim').read())";
      const attacker =
        "import glob, os, signal\nend = __import__('time').time() + 0.9\nfound = set()\nwhile __import__('time').time() < end:\n    found |= {p for p in glob.glob('/tmp/**/victim', recursive=True) + glob.glob('/home/**/victim', recursive=True)}\n    for pid in list(range(1, 400)):\n        if pid != os.getpid():\n            try: os.kill(pid, signal.SIGKILL); found.add(pid)\n            except OSError: pass\nprint(sorted(map(str, found - {1})))";
      const [hurt, seen] = await Promise.all([exec(sandbox, victim), exec(sandbox, attacker)]);
      expect(hurt.stdout.head).toBe("mine\n");
      expect(seen.stdout.head).toBe("[]\n");
    });
  });
}

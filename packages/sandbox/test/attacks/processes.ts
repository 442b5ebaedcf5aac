import { attempt, HELD, SHORT, STOPPED, type Attack, type Bait } from "./attack.ts";

const FORKED =
  "import os, time\ndef forked(action):\n    pid = os.fork()\n    if pid == 0:\n        try: action()\n        finally: os._exit(0)\n    return pid\n";

export function processAttacks(bait: Bait): readonly Attack[] {
  return [
    {
      name: "300 children at once meet the limit",
      code: "import os, time\npids = []\ntry:\n    for _ in range(300):\n        pid = os.fork()\n        if pid == 0:\n            time.sleep(1000)\n            os._exit(0)\n        pids.append(pid)\n    print('ESCAPED', len(pids))\nexcept OSError as error:\n    print('HELD', error.errno, len(pids) < 100)",
      needs: ["process_count", "no_orphans"],
      ends: ["ok"],
      prints: /^HELD 11 True/,
    },
    {
      name: "a fork bomb burns out",
      code: "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
      needs: ["process_count", "no_orphans"],
      limits: SHORT,
      ends: STOPPED,
    },
    {
      name: "a fork bomb whose members leave their sessions burns out",
      code: "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass",
      needs: ["process_count", "no_orphans"],
      limits: SHORT,
      ends: STOPPED,
    },
    {
      name: "3,000 threads meet the limit",
      code: "import threading, time\ncount = 0\ntry:\n    for _ in range(3000):\n        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n        count += 1\n    print('ESCAPED', count)\nexcept RuntimeError:\n    print('HELD', count < 100)",
      needs: ["process_count"],
      ends: ["ok"],
      prints: /^HELD True/,
    },
    {
      name: "a daemon that holds stdout does not hold the answer",
      code: `${FORKED}\ndef daemon():\n    os.setsid()\n    forked(lambda: time.sleep(1000))\nos.waitpid(forked(daemon), 0)\nprint('done')`,
      ends: ["ok"],
      prints: /^done/,
    },
    {
      name: "a daemon does not outlive a time-out",
      code: `${FORKED}\ndef daemon():\n    os.setsid()\n    forked(lambda: time.sleep(1000))\nforked(daemon)\nwhile True: pass`,
      limits: SHORT,
      ends: STOPPED,
    },
    {
      name: "twenty daemons that ignore every signal are gone",
      code: `${FORKED}\nimport signal\ndef daemon():\n    os.setsid()\n    for n in range(1, 65):\n        try: signal.signal(n, signal.SIG_IGN)\n        except (OSError, ValueError): pass\n    time.sleep(1000)\nfor _ in range(20): forked(daemon)\nprint('left')`,
      ends: ["ok"],
      prints: /^left/,
    },
    {
      name: "two daemons that start each other again are gone",
      code: `${FORKED}\ndef phoenix():\n    os.setsid()\n    while True:\n        os.waitpid(forked(lambda: time.sleep(0.005)), 0)\nforked(phoenix); forked(phoenix)\nprint('left')`,
      ends: ["ok"],
      prints: /^left/,
    },
    {
      name: "a daemon with an empty environment is gone",
      code: "import os, sys, subprocess\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'], env={}, start_new_session=True)\nprint('left')",
      needs: ["no_orphans"],
      ends: ["ok"],
      prints: /^left/,
    },
    {
      name: "a stopped child is gone",
      code: `${FORKED}\nimport signal\nos.kill(forked(lambda: time.sleep(1000)), signal.SIGSTOP)\nprint('left')`,
      ends: ["ok"],
      prints: /^left/,
    },
    {
      name: "a group of its own does not save a spinning process",
      code: "import os\nos.setpgid(0, 0) if os.getpid() != os.getsid(0) else None\nwhile True: pass",
      limits: SHORT,
      ends: STOPPED,
    },
    {
      name: "sixty unreaped children do no harm",
      code: `${FORKED}\nfor _ in range(40): forked(lambda: None)\nprint('zombies')`,
      ends: ["ok"],
      prints: /^zombies/,
    },
    {
      name: "kill(-1) reaches nobody else",
      code: "import os, signal\ntry: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass\nprint('still here')",
      needs: ["private_processes"],
      ends: ["ok", "killed"],
    },
    {
      name: "killing process 1 reaches nobody else",
      code: "import os, signal\nfor number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):\n    try: os.kill(1, number)\n    except OSError: pass\nprint('still here')",
      needs: ["private_processes"],
      ends: ["ok", "killed", "timeout"],
      limits: SHORT,
    },
    {
      name: "the parent cannot be signalled",
      code: "import os, signal\nparent = os.getppid()\ntry:\n    if parent > 1: os.kill(parent, signal.SIGKILL)\n    print('HELD', 'nothing to signal' if parent <= 1 else 'no effect')\nexcept OSError as error:\n    print('HELD', error)",
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the engine cannot be signalled by its number",
      code: attempt(`os.kill(${bait.enginePid}, signal.SIGTERM)`),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the engine cannot be reached by a process descriptor",
      code: attempt(`signal.pidfd_send_signal(os.pidfd_open(${bait.enginePid}), signal.SIGTERM)`),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the engine's limits cannot be changed",
      code: attempt(
        `resource.prlimit(${bait.enginePid}, resource.RLIMIT_NOFILE, (10, 10))`,
        "import resource",
      ),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "no process but its own is seen",
      code: "import os\ntry: pids = [int(n) for n in os.listdir('/proc') if n.isdecimal()]\nexcept OSError: pids = []\nprint('HELD' if len(pids) <= 2 else 'ESCAPED', len(pids))",
      needs: ["private_processes", "no_host_read"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "a better priority is refused",
      code: attempt("os.nice(-10)"),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "real-time scheduling is refused",
      code: attempt("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))"),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the limit of open files cannot be raised",
      code: attempt("resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))", "import resource"),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the limit of memory cannot be raised",
      code: attempt("resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "import resource"),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "the limit of CPU time cannot be raised",
      code: attempt("resource.setrlimit(resource.RLIMIT_CPU, (900, 900))", "import resource"),
      needs: ["private_processes"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "a thousand open files meet the limit",
      code: attempt("[open('/dev/null') for _ in range(1000)]"),
      ends: ["ok"],
      prints: HELD,
    },
  ];
}

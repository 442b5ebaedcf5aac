import { attempt, HELD, type Attack, type Bait } from "./attack.ts";

function held(name: string, expression: string, needs: Attack["needs"], setup = ""): Attack {
  return { name, code: attempt(expression, setup), needs: needs ?? [], ends: ["ok"], prints: HELD };
}

export function hostAttacks(bait: Bait): readonly Attack[] {
  const { secret, folder, project } = bait;
  const read = ["no_host_read"] as const;
  const files = ["no_host_read", "private_files"] as const;
  return [
    held("a readable file of the host", `open('${secret}').read()`, read),
    held("the same by its number of dots", `open('../../../../../..${secret}').read()`, read),
    held("the same through a link", `open('link').read()`, read, `os.symlink('${secret}', 'link')`),
    held(
      "the same through a linked folder",
      `os.listdir('link/')`,
      read,
      `os.symlink('${folder}', 'link')`,
    ),
    held(
      "the same through a hard link",
      `os.link('${secret}', 'hard') or open('hard').read()`,
      read,
    ),
    held(
      "the same through the current folder of the engine",
      `open('/proc/${bait.enginePid}/cwd/package.json').read()`,
      read,
    ),
    held("the same by sendfile", `os.sendfile(1, os.open('${secret}', os.O_RDONLY), 0, 100)`, read),
    held("a folder of the host", `os.listdir('${folder}')`, read),
    held("the project", `os.listdir('${project}')`, read),
    held("/etc/shadow", "open('/etc/shadow').read()", read),
    held("/etc/hosts", "open('/etc/hosts').read()", read),
    held("root's home", "open('/root/.bashrc').read()", read),
    held("the environment of the engine", `open('/proc/${bait.enginePid}/environ').read()`, read),
    held("the memory of the engine", `open('/proc/${bait.enginePid}/mem', 'rb')`, read),
    held("the memory of the parent", "open(f'/proc/{os.getppid()}/mem', 'rb')", read),
    held("the kernel's settings", "open('/proc/sys/kernel/core_pattern', 'w')", read),
    held("devices of the machine", "os.listdir('/sys/class')", read),
    held("the kernel's log", "open('/dev/kmsg').read(1)", read),
    held("the machine's memory", "open('/dev/mem', 'rb').read(1)", read),
    held("a terminal", "open('/dev/tty', 'w').write('x')", read),
    held("writing a file of the host", `open('${secret}', 'a').write('x')`, read),
    held("writing beside it", `open('${folder}/planted', 'w').write('x')`, read),
    held("removing it", `os.unlink('${secret}')`, files),
    held("renaming it", `os.rename('${secret}', '${folder}/moved')`, files),
    held("changing its mode", `os.chmod('${secret}', 0o600)`, files),
    held("changing its owner", `os.chown('${secret}', os.getuid(), os.getgid())`, files),
    held("changing its times", `os.utime('${secret}', (0, 0))`, files),
    held("giving it an attribute", `os.setxattr('${secret}', 'user.x', b'x')`, files),
    held("writing into /usr", "open('/usr/planted', 'w').write('x')", read),
    held("writing into Python's library", "open(os.__file__, 'a').write('x')", read),
    held("writing into /etc", "open('/etc/planted', 'w').write('x')", read),
    held("writing into /", "open('/planted', 'w').write('x')", read),
    held("writing into /dev", "open('/dev/planted', 'w').write('x')", read),
    held(
      "making a device",
      "os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(8, 0)) or open('disk', 'rb')",
      ["syscall_filter", "private_files"],
    ),
    held("becoming root", "os.setuid(0)", ["private_processes"]),
    held(
      "a program that makes one root",
      "(lambda r: r.stdout + str(r.returncode) if r.returncode == 0 else 1 / 0 if False else os.write(99, b''))(subprocess.run(['su', '-c', 'id -u'], capture_output=True, text=True, stdin=subprocess.DEVNULL))",
      ["private_processes"],
      "import subprocess",
    ),
    held(
      "keeping a capability",
      "(lambda e: e if any(int(n) for n in e) else os.write(99, b''))(caps())",
      ["syscall_filter"],
      CAPS,
    ),
    {
      name: "descriptors of the engine or the pool",
      code: "import os\nopen_ones = []\nfor fd in range(3, 256):\n    try:\n        os.fstat(fd)\n        open_ones.append(fd)\n    except OSError: pass\nprint('HELD' if not open_ones else 'ESCAPED', open_ones)",
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "secrets in the environment",
      code: "import os\nprint('ESCAPED' if any('BAIT' in k or 'BAIT' in v for k, v in os.environ.items()) else 'HELD', len(os.environ))",
      needs: ["clean_environment"],
      ends: ["ok"],
      prints: HELD,
    },
    {
      name: "code of other calls in the memory of this one",
      code: "import gc, sys\nfound = [o for o in gc.get_objects() if isinstance(o, (str, bytes)) and 'MARKER-' + 'OF-ANOTHER' in str(o)]\nprint('HELD' if not found else 'ESCAPED', len(found))",
      ends: ["ok"],
      prints: HELD,
    },
  ];
}

const CAPS = `def caps():
    class H(ctypes.Structure): _fields_ = [('v', ctypes.c_uint32), ('p', ctypes.c_int)]
    h, d = H(0x20080522, 0), (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget(ctypes.byref(h), d)
    return list(d)
`;

import { expect, test } from "bun:test";
import { createSandbox, describeIsolation } from "../../src/index.ts";
import { exec } from "../conformance/harness.ts";
import "../conformance/patience.ts";

test("the process backend says what it does not contain", async () => {
  await using sandbox = await createSandbox({ backend: "process" });
  expect(describeIsolation(sandbox.isolation())).toBe(
    "process (linux): not contained: private_files, no_host_read, no_network, private_processes, no_orphans, memory_total, process_count, disk_total, syscall_filter",
  );
});

test("it refuses to be made where more is required", () => {
  expect(createSandbox({ backend: "process", require: "standard" })).rejects.toThrow(
    'Expected isolation "standard", but process (linux) does not give no_host_read (runs as the user of the engine)',
  );
});

test("the helper that sweeps may be killed: a new one sweeps", async () => {
  await using sandbox = await createSandbox({ backend: "process" });
  const kill =
    "import os, signal\nfor name in os.listdir('/proc'):\n    if name.isdecimal() and os.getppid() == int(open(f'/proc/{name}/stat').read().rsplit(')')[1].split()[1]) and b'process_warden' in open(f'/proc/{name}/cmdline', 'rb').read():\n        os.kill(int(name), signal.SIGKILL)\n        print('killed it')";
  expect((await exec(sandbox, kill)).stdout.head).toBe("killed it\n");
  expect((await exec(sandbox, "print(1)")).stdout.head).toBe("1\n");
});

import { expect, test } from "bun:test";
import { exec } from "../conformance/harness.ts";
import { withSubject } from "../conformance/subjects.ts";
import "../conformance/patience.ts";

await withSubject("zygote with landlock as root", ({ make, name }) => {
  test(`${name}: no two calls of one pool or of two run under one id`, async () => {
    await using first = await make({ concurrency: 2 });
    await using second = await make({ concurrency: 2 });
    const who = "import os, time\ntime.sleep(0.2)\nprint(os.getuid(), os.getgid())";
    const runs = [first, first, second, second].map((sandbox) => exec(sandbox, who));
    const seen = (await Promise.all(runs)).map(({ stdout }) => stdout.head.trim());
    expect(new Set(seen).size).toBe(4);
    for (const ids of seen) expect(ids).toMatch(/^(\d+) \1$/);
  });
});

/** The learner as a process, against programs that behave as a learner may on a bad day. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLearner } from "../../src/train/learner-process.ts";
import { newFolder, PYTHON } from "../support/cli.ts";

/** A package of that name whose `__main__` is the script. */
function scripted(body: string) {
  const source = newFolder();
  mkdirSync(join(source, "interlace_learner"));
  writeFileSync(join(source, "interlace_learner/__init__.py"), "");
  writeFileSync(join(source, "interlace_learner/__main__.py"), `import json, os, sys\n${body}`);
  return startLearner({ python: PYTHON, source });
}

describe("startLearner", () => {
  test("asks one line, gets one line, in order", async () => {
    await using learner = scripted(
      'for line in sys.stdin:\n    print(json.dumps({"type": "ready", "seen": json.loads(line)}), flush=True)\n',
    );
    expect(await learner.ask({ type: "open", n: 1 }, "ready")).toMatchObject({ seen: { n: 1 } });
    expect(await learner.ask({ type: "open", n: 2 }, "ready")).toMatchObject({ seen: { n: 2 } });
  });

  test("an error of the learner is told in its own words, and it goes on", async () => {
    await using learner = scripted(
      'sys.stdin.readline()\nprint(json.dumps({"type": "error", "message": "no such file"}), flush=True)\n' +
        'sys.stdin.readline()\nprint(json.dumps({"type": "ready"}), flush=True)\n',
    );
    expect(learner.ask({ type: "update" }, "updated")).rejects.toThrow(
      "The learner could not update: no such file",
    );
    expect(await learner.ask({ type: "open" }, "ready")).toMatchObject({ type: "ready" });
  });

  test("one that dies says with what, and the end of its stderr", async () => {
    await using learner = scripted(
      'sys.stdin.readline()\nsys.stderr.write("CUDA out of memory\\n")\nos._exit(3)\n',
    );
    expect(learner.ask({ type: "update" }, "updated")).rejects.toThrow(
      /The learner ended on its own \(exit code 3\): CUDA out of memory; .* --resume/,
    );
  });

  test("one that is killed is named by its signal", async () => {
    await using learner = scripted("sys.stdin.readline()\nos.kill(os.getpid(), 9)\n");
    expect(learner.ask({ type: "update" }, "updated")).rejects.toThrow("(SIGKILL)");
  });

  test("a line that is no JSON is shown", async () => {
    await using learner = scripted(
      'sys.stdin.readline()\nprint("Loading checkpoint shards", flush=True)\n',
    );
    expect(learner.ask({ type: "open" }, "ready")).rejects.toThrow(
      "wrote a line that is no JSON: Loading checkpoint shards",
    );
  });
});

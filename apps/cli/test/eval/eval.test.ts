/** `interlace eval` as a whole: spawned, with the policy in the box, its other weights, and a fake server of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { createFakeVllm, serveFake } from "@interlace/sampler-clients/testing";
import { newFolder, runCli, spawnCli, waitForText } from "../support/cli.ts";
import { checkSummary } from "../support/recompute.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(240_000);

const SMALL = ["eval", "--limit", "5", "--val-n", "4"];

let folder = "";
let reference = "";
const inFolder = (name: string): string => join(folder, name);
const textOf = (name: string): string => readFileSync(inFolder(name), "utf8");
const linesOf = (name: string) =>
  textOf(name)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

beforeAll(async () => {
  folder = newFolder();
  const { code, stderr } = await runCli([...SMALL, "--out", "reference.jsonl"], folder);
  expect(stderr).toContain("retool, 5 problems × 4 = 20 generations");
  expect(code).toBe(0);
  reference = textOf("reference.jsonl");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the file", () => {
  test("every figure is what Python makes of the problem lines", async () => {
    const summary = await checkSummary(inFolder("reference.jsonl"));
    expect(summary).toMatchObject({ problems: 5, generations: 20, unscored_generations: 0 });
    expect(Number(summary["average_at_n"])).toBeGreaterThan(0);
    expect(Number(summary["mean_code_calls"])).toBeGreaterThan(0.5);
  });

  test("lines begin with the fields that others read, in their order", () => {
    const lines = linesOf("reference.jsonl");
    const [first] = lines;
    expect(Object.keys(first ?? {}).slice(0, 8)).toEqual([
      "type",
      "problem_id",
      "problem",
      "ground_truth",
      "val_n",
      "num_correct",
      "pass_at_n",
      "generations",
    ]);
    const [generation] = (first?.["generations"] ?? []) as readonly object[];
    expect(Object.keys(generation ?? {}).slice(0, 8)).toEqual([
      "predicted_answer",
      "boxed_answer",
      "correct",
      "formatted",
      "code_calls",
      "turns",
      "completion_tokens",
      "text",
    ]);
    const summary = lines.at(-1) ?? {};
    expect(Object.keys(summary).slice(0, 18)).toEqual([
      "type",
      "dataset",
      "mode",
      "base_model",
      "model_path",
      "temperature",
      "top_p",
      "top_k",
      "val_n",
      "problems",
      "generations",
      "average_at_n",
      "pass_at_n",
      "format_rate",
      "mean_code_calls",
      "mean_turns",
      "correct_generations",
      "passed_problems",
    ]);
    expect(summary).toMatchObject({
      dataset: "arith-held-out",
      mode: "retool",
      model_path: null,
      temperature: 1,
      top_p: 0.7,
      top_k: null,
      seed: 42,
      grader: "native",
    });
    expect(String(summary["config_hash"])).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("the same", () => {
  test("concurrency changes no byte", async () => {
    const args = [...SMALL, "--concurrency", "1", "--out", "one.jsonl"];
    expect((await runCli(args, folder)).code).toBe(0);
    expect(textOf("one.jsonl")).toBe(reference);
  });

  test("chunks change no byte: first two problems, then all", async () => {
    const two = ["eval", "--limit", "2", "--val-n", "4", "--out", "chunks.jsonl"];
    expect((await runCli(two, folder)).code).toBe(0);
    expect(linesOf("chunks.jsonl").at(-1)).toMatchObject({ type: "summary", problems: 2 });
    const { stderr } = await runCli([...SMALL, "--out", "chunks.jsonl"], folder);
    expect(stderr).toContain("holds 2 of 5 problems; going on");
    expect(textOf("chunks.jsonl")).toBe(reference);
  });

  test.each(["SIGINT", "SIGKILL"] as const)(
    "an evaluation that %s cut off goes on",
    async (signal) => {
      const name = `${signal}.jsonl`;
      const args = [...SMALL, "--concurrency", "1", "--out", name];
      const child = spawnCli(args, folder);
      await waitForText(child.stderr, "/20 trajectories");
      child.kill(signal);
      const code = await child.exited;
      if (signal === "SIGINT") expect(code).toBe(1);
      expect((await runCli(args, folder)).code).toBe(0);
      expect(textOf(name)).toBe(reference);
    },
  );

  test("two evaluations never write one file", async () => {
    const args = "eval --limit 200 --val-n 8 --concurrency 1 --out shared.jsonl".split(" ");
    const child = spawnCli(args, folder);
    await waitForText(child.stderr, "/1600 trajectories");
    const second = await runCli(args, folder);
    child.kill("SIGKILL");
    await child.exited;
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`shared.jsonl is in use by process ${child.pid} on `);
  });

  test("a line that a crash tore is asked again, a damaged one is refused", async () => {
    writeFileSync(inFolder("torn.jsonl"), reference);
    const [first = "", second = ""] = reference.split("\n");
    truncateSync(inFolder("torn.jsonl"), Buffer.byteLength(`${first}\n${second}`) - 9);
    expect((await runCli([...SMALL, "--out", "torn.jsonl"], folder)).code).toBe(0);
    expect(textOf("torn.jsonl")).toBe(reference);

    writeFileSync(inFolder("damaged.jsonl"), `${first}\n${second.slice(0, 40)}\n`);
    const damaged = await runCli([...SMALL, "--out", "damaged.jsonl"], folder);
    expect(damaged.code).toBe(2);
    expect(damaged.stderr).toContain("damaged.jsonl, line 2 is no JSON");
  });

  test("another seed is another evaluation, and does not go on in this one's file", async () => {
    const args = [...SMALL, "--seed", "43", "--out", "seed.jsonl"];
    const lines = reference.split("\n");
    const { config_hash, asked_with } = linesOf("reference.jsonl").at(-1) ?? {};
    const asked = JSON.stringify({ type: "asked", config_hash, asked_with });
    const contents = {
      "with its summary": reference,
      "cut off by a crash": `${asked}\n${lines[0]}\n${lines[1]?.slice(0, 40)}`,
      "that does not tell": `${lines[0]}\n`,
    };
    for (const [what, content] of Object.entries(contents)) {
      writeFileSync(inFolder("seed.jsonl"), content);
      const { code, stderr } = await runCli(args, folder);
      const differs =
        what === "that does not tell" ? "" : ": eval.seed (--seed) is 42 there and 43 now";
      expect([what, code, stderr.trimEnd().split("\n").at(-1)]).toEqual([
        what,
        2,
        `interlace: seed.jsonl was made with other settings, data or weights${differs}; ask with the same, name another --out, or remove the file`,
      ]);
      expect(textOf("seed.jsonl")).toBe(content);
    }
  });

  test("what it is asked with stands in the file from its beginning, once", async () => {
    const child = spawnCli([...SMALL, "--concurrency", "1", "--out", "asked.jsonl"], folder);
    await waitForText(child.stderr, "/20 trajectories");
    child.kill("SIGKILL");
    await child.exited;
    const isAsked = (line: Readonly<Record<string, unknown>>): boolean => line["type"] === "asked";
    const whole = textOf("asked.jsonl");
    writeFileSync(inFolder("asked.jsonl"), whole.slice(0, whole.lastIndexOf("\n") + 1));
    const [first] = linesOf("asked.jsonl");
    expect(first).toMatchObject({ type: "asked", asked_with: { "rollout.seed": 42 } });
    const compared = await runCli(["eval", "compare", "asked.jsonl", "reference.jsonl"], folder);
    expect(compared.stderr).toContain("asked.jsonl has no summary: its evaluation did not end");
    expect((await runCli([...SMALL, "--out", "asked.jsonl"], folder)).code).toBe(0);
    expect(textOf("asked.jsonl")).toBe(reference);
    expect(linesOf("asked.jsonl").filter(isAsked)).toEqual([]);
  });
});

describe("modes and models", () => {
  test("text-only: one turn, no tools, judged by the same grader", async () => {
    const args = [...SMALL, "--mode", "text-only", "--out", "text.jsonl"];
    expect((await runCli(args, folder)).code).toBe(0);
    const summary = await checkSummary(inFolder("text.jsonl"));
    expect(summary).toMatchObject({
      mode: "text-only",
      mean_turns: 1,
      mean_code_calls: 0,
      grader: "native",
      max_assistant_turns: 1,
      // What the context of 512 holds.
      max_assistant_tokens: 512,
    });
  });

  test("several checkpoints: a file each, and what is the same weights is the same answers", async () => {
    mkdirSync(inFolder("copy"));
    const weights = await Bun.file(join(embeddedPolicyFolder, "model.safetensors")).bytes();
    await Bun.write(inFolder("copy/model.safetensors"), weights);
    const more = ["--checkpoint", "copy", "--checkpoint", `box=${embeddedPolicyFolder}`];
    const { code, stdout } = await runCli([...SMALL, ...more, "--out", "both"], folder);
    expect(code).toBe(0);
    const files = ["both/arith-held-out-retool-copy.jsonl", "both/arith-held-out-retool-box.jsonl"];
    expect(stdout).toContain(`eval compare ${files.join(" ")}`);
    for (const file of files) {
      const problems = textOf(file).split("\n").slice(0, 5);
      expect(problems).toEqual(reference.split("\n").slice(0, 5));
    }
    expect(linesOf(files[0] ?? "").at(-1)).toMatchObject({
      checkpoint: "copy",
      model_path: "copy",
    });
  });

  test("a checkpoint by its server's URL: each is asked for itself", async () => {
    const fakes = [await createFakeVllm(), await createFakeVllm()];
    await using first = await serveFake(fakes[0]!.app);
    await using second = await serveFake(fakes[1]!.app);
    const points = ["--checkpoint", `one=${first.url}`, "--checkpoint", `two=${second.url}`];
    const server = ["--sampler", "vllm", "--tokenizer", embeddedPolicyFolder, "--require", "none"];
    const args = [...SMALL, "--preset", "embedded", ...server, ...points, "--out", "urls"];
    expect((await runCli(args, folder)).code).toBe(0);
    const files = ["one", "two"].map((name) => `urls/arith-held-out-retool-${name}.jsonl`);
    expect(fakes.every((fake) => fake.seen.length > 5)).toBe(true);
    for (const [i, file] of files.entries()) {
      expect(linesOf(file).at(-1)).toMatchObject({ model_path: [first.url, second.url][i] });
    }
  });

  test("a server: the same policy gives the same answers, broken generations are counted apart", async () => {
    const fake = await createFakeVllm();
    await using served = await serveFake(fake.app);
    const server = ["--sampler", "vllm", "--url", served.url, "--tokenizer", embeddedPolicyFolder];
    const args = [...SMALL, "--preset", "embedded", "--require", "none", ...server];
    expect((await runCli([...args, "--out", "vllm.jsonl"], folder)).code).toBe(0);
    expect(await checkSummary(inFolder("vllm.jsonl"))).toMatchObject({ unscored_generations: 0 });
    const answers = (name: string) => linesOf(name).map((line) => line["generations"]);
    expect(answers("vllm.jsonl").slice(0, 5)).toEqual(answers("reference.jsonl").slice(0, 5));

    let groups = 0;
    const broken = await createFakeVllm({
      // A 400 is never tried again: one problem has no answer at all.
      faults: ({ body }) =>
        isFirstRequest(body) && ++groups === 3 ? { type: "status", status: 400 } : null,
    });
    await using servedBroken = await serveFake(broken.app);
    const second = args.map((arg) => (arg === served.url ? servedBroken.url : arg));
    expect((await runCli([...second, "--out", "broken.jsonl"], folder)).code).toBe(0);
    const summary = await checkSummary(inFolder("broken.jsonl"));
    expect(Number(summary["unscored_generations"])).toBeGreaterThan(0);
    expect(summary["scored_problems"]).toBe(4);
    expect(linesOf("broken.jsonl")[2]).toMatchObject({ num_unscored: 4, pass_at_n: null });

    const mended = await runCli([...args, "--out", "broken.jsonl", "--retry-failed"], folder);
    expect(mended.stderr).toContain("holds 4 of 5 problems; going on");
    expect(textOf("broken.jsonl")).toBe(textOf("vllm.jsonl"));
  });
});

describe("refusals", () => {
  test("a data set that is not at hand says where it is looked for", async () => {
    const { code, stderr } = await runCli(["eval", "--dataset", "aime25"], folder);
    expect(code).toBe(2);
    expect(stderr).toContain("aime25 is not at hand: expected data/aime25");
    expect(existsSync(inFolder("evals"))).toBe(false);
  });

  test("a file with another number of rows is not the data set", async () => {
    mkdirSync(inFolder("sets"));
    writeFileSync(inFolder("sets/gsm8k.jsonl"), '{"question": "1+1?", "answer": "#### 2"}\n');
    const { code, stderr } = await runCli(["eval", "--dataset", "gsm8k", "--data", "sets"], folder);
    expect(code).toBe(2);
    expect(stderr).toContain("sets/gsm8k.jsonl holds 1 problems, gsm8k has 1319");
  });

  test("weights that are none of this policy, and none at all", async () => {
    writeFileSync(inFolder("bad.safetensors"), "no weights");
    const bad = await runCli([...SMALL, "--checkpoint", "bad.safetensors"], folder);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain("Cannot evaluate the weights in bad.safetensors");
    const none = await runCli([...SMALL, "--checkpoint", "nowhere"], folder);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("There are no weights at nowhere");
  });
});

function isFirstRequest(body: unknown): boolean {
  const { sampling_params: sampling } = body as {
    readonly sampling_params?: { readonly n?: number };
  };
  return sampling?.n === 4;
}

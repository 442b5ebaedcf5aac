/** The conformance suite and what only a real server can show. Started by `bun run test:real`, else skipped. */
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { concatIds, weightVersion } from "../../packages/core/src/index.ts";
import { embeddedPolicyFolder } from "../../packages/sampler-clients/src/index.ts";
import { ask, sampled } from "../../packages/sampler-clients/test/conformance/asked.ts";
import { runConformance } from "../../packages/sampler-clients/test/conformance/conformance.ts";
import { openClient, openReal, type RealServerNote } from "./real-subject.ts";

const given = process.env["REAL_SERVER"];
const NEVER = new AbortController().signal;

test.skipIf(given !== undefined)("real servers are started by bun run test:real", () => {});

if (given !== undefined) {
  const note = JSON.parse(given) as RealServerNote & { readonly python: string };
  const isVllm = note.kind === "vllm";
  const isTinker = note.kind === "tinker";
  const loads = isVllm || note.kind === "sglang";
  runConformance(note.name, () => openReal(note), {
    kind: note.kind,
    logprobKind: note.logprobs,
    honoursSeed: note.kind !== "sglang",
    versionSource:
      isTinker || (isVllm && !note.scaleOut) ? "per_request" : loads ? "per_token" : "none",
    tolerance: 1e-4,
    stopsOnAbort: !isTinker,
    holds: loads,
    loadsWeights: loads,
  });

  test.skipIf(isTinker)("a client that is killed stops the server", async () => {
    await using subject = await openReal(note);
    const child = Bun.spawn(
      ["bun", join(import.meta.dir, "sample-for-long.ts"), JSON.stringify(note)],
      {
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    for await (const _ of child.stdout) break;
    await subject.untilBusy();
    child.kill("SIGKILL");
    await child.exited;
    const killed = performance.now();
    await subject.untilIdle();
    console.log(
      `FIGURE idle ${((performance.now() - killed) / 1000).toFixed(1)} s after its client was killed`,
    );
  });

  test("a whole rollout: real tool calls, a ledger that balances, an export that verifies", async () => {
    const out = mkdtempSync(join(tmpdir(), "interlace-real-"));
    const words = ["--sampler", note.kind, "--url", note.url, "--tokenizer", embeddedPolicyFolder];
    const size = ["--problems", "4", "--group-size", "4", "--preset", "embedded", "--out", out];
    await interlace(["rollout", ...words, ...size]);
    const [run] = readdirSync(out);
    const ledger = (await Bun.file(join(out, run!, "step-000000/ledger.json")).json()) as Ledger;
    const { trajectories, sampled_tokens: tokens } = ledger;
    expect(trajectories.total).toBe(16);
    console.log(
      `FIGURE a rollout of ${trajectories.total} trajectories and ${tokens.total} tokens, verified`,
    );
    await interlace(["verify", join(out, run!)]);
  });

  test("logprobs are those of a PyTorch forward pass", async () => {
    await using client = await openClient(note);
    const lines = [];
    const seen: Float32Array[] = [];
    for (const [at, [temperature, topP]] of [
      [1, 1],
      [0.7, 1],
      [1, 0.8],
    ].entries() as Iterable<[number, [number, number]]>) {
      const request = ask({ samples: 8, temperature, topP, seed: 40 + at });
      for (const { ids, logprobs } of sampled(await client.sampler.sample(request, NEVER))) {
        const prompt = [...concatIds(request.prompt)];
        lines.push(
          JSON.stringify({ prompt, ids: [...ids], temperature, top_p: topP, kind: note.logprobs }),
        );
        seen.push(logprobs);
      }
    }
    const expected = await torchLogprobs(note.python, embeddedPolicyFolder, lines);
    const off = seen.flatMap((row, at) =>
      Array.from(row, (p, place) => Math.abs(p - expected[at]![place]!)),
    );
    console.log(
      `FIGURE largest difference to PyTorch ${Math.max(...off).toExponential(1)} over ${off.length} tokens`,
    );
    expect(Math.max(...off)).toBeLessThan(1e-4);
  }, 120_000);

  test.skipIf(!loads || !note.scaleOut)(
    "weights that change under a running sample: spans name both, and each is right",
    async () => {
      await using client = await openClient(note, "overlap");
      const feed = client.feed!;
      const [first, second] = [weightVersion("first"), weightVersion("second")];
      await feed.announce(first, join(note.policies, "first"), NEVER);
      const request = ask({ maxTokens: 400, samples: 4, seed: 5, stopIds: [] });
      const sampling = client.sampler.sample(request, NEVER);
      await Bun.sleep(1_000);
      await feed.announce(second, join(note.policies, "other"), NEVER);
      const straddling = sampled(await sampling).filter(({ versions }) => versions.length > 1);
      await feed.announce(first, join(note.policies, "first"), NEVER);
      expect(straddling.length).toBeGreaterThan(0);
      const prompt = [...concatIds(request.prompt)];
      for (const { ids, logprobs, versions } of straddling) {
        expect(versions.map(({ version }) => version)).toEqual([first, second]);
        const { temperature } = request;
        const line = JSON.stringify({
          prompt,
          ids: [...ids],
          temperature,
          top_p: 1,
          kind: note.logprobs,
        });
        const [own, others] = await Promise.all([
          torchLogprobs(note.python, join(note.policies, "first"), [line]),
          torchLogprobs(note.python, join(note.policies, "other"), [line]),
        ]);
        const border = versions[0]!.end;
        const off = Array.from(logprobs, (p, at) =>
          Math.abs(p - (at < border ? own : others)[0]![at]!),
        );
        const worst = [off.slice(0, border), off.slice(border)].map((part) =>
          Math.max(...part).toExponential(1),
        );
        console.log(
          `FIGURE ${border} tokens of the old weights and ${ids.length - border} of the new, ${worst.join(" and ")} from PyTorch`,
        );
        expect(Math.max(...off)).toBeLessThan(1e-3);
      }
    },
    120_000,
  );
}

type Ledger = {
  readonly trajectories: { readonly total: number };
  readonly sampled_tokens: { readonly total: number };
};

async function interlace(args: readonly string[]): Promise<void> {
  const launcher = join(import.meta.dir, "../launch.ts");
  const child = Bun.spawn(["bun", launcher, ...args], { stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0)
    throw new Error(`interlace ${args.join(" ")} ended with ${code}:\n${out}\n${err}`);
}

async function torchLogprobs(
  python: string,
  folder: string,
  lines: readonly string[],
): Promise<number[][]> {
  const child = Bun.spawn([python, `${import.meta.dir}/torch_logprobs.py`, folder], {
    stdin: new Blob([`${lines.join("\n")}\n`]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(err.split("\n").slice(-15).join("\n"));
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as number[]);
}

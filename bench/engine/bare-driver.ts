/**
 * The least that Bun can do: the same requests, `fetch`, and nothing read of an answer but ids and logprobs. No
 * checks, no text, no log. `bun bench/engine/bare-driver.ts URL PLAN_FILE`.
 */
import { readAnswer, type Cut } from "./cut.ts";
import type { PlanFile, Template } from "./plan-file.ts";
import { cpuMs, report, residentBytes } from "./usage.ts";

const [url = "", planPath = ""] = process.argv.slice(2);
const plan = (await Bun.file(planPath).json()) as PlanFile;
const { cell, groupSize, turns } = plan;
const address = url + plan.path;
let count = 0;

function fill(template: Template, prompt: string, seed: number): string {
  let out = template[0] ?? "";
  for (let i = 1; i < template.length; i += 2) {
    const gap = template[i] ?? "";
    if (gap === "id") out += (count += 1).toString(16).padStart(8, "0");
    else if (gap === "prompt") out += prompt;
    else out += String(seed + Number(gap.slice(5)));
    out += template[i + 1] ?? "";
  }
  return out;
}

const headers = { "content-type": "application/json" };
const unlimited: object = { timeout: false };

async function ask(body: string, samples: number): Promise<readonly Cut[]> {
  const response = await fetch(address, { method: "POST", headers, body, ...unlimited });
  const bytes = await response.bytes();
  return readAnswer(
    cell.wire,
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    samples,
  );
}

type Held = { readonly ids: Int32Array[]; readonly logprobs: Float32Array[] };

async function runMember(
  start: number,
  question: number,
  member: number,
  first: Cut,
  prompt: string,
): Promise<Held> {
  const held: Held = { ids: [first.ids], logprobs: [first.logprobs] };
  let text = prompt;
  let last = first;
  for (let turn = 1; turn < turns; turn++) {
    text += `,${last.text}${plan.deltas[turn - 1] ?? ""}`;
    const seed = start + (question * plan.turnsOfSeed + turn) * groupSize + member;
    const [cut] = await ask(fill(plan.later, text, seed), 1);
    if (cut === undefined) throw new Error("Expected one sample, got none");
    held.ids.push(cut.ids);
    held.logprobs.push(cut.logprobs);
    last = cut;
  }
  return held;
}

async function runGroup(step: number, question: number): Promise<readonly Held[]> {
  const start = plan.seeds[step] ?? 0;
  const prompt = plan.prompts[question] ?? "";
  const seed = start + question * plan.turnsOfSeed * groupSize;
  const cuts = await ask(fill(plan.first, prompt, seed), groupSize);
  return Promise.all(cuts.map((cut, member) => runMember(start, question, member, cut, prompt)));
}

function runBatch(step: number): Promise<readonly (readonly Held[])[]> {
  return Promise.all(
    Array.from({ length: plan.groups[step] ?? 0 }, (_, question) => runGroup(step, question)),
  );
}

for (let i = 0; i < plan.warmUps; i++) await runBatch(0);
let used = 0;
let grownBytes = 0;
let liveTokens = 0;
let asked = 0;
const wallMs: number[] = [];
for (let step = 1; step <= cell.batches; step++) {
  const resident = residentBytes("before");
  const before = cpuMs();
  const began = performance.now();
  const groups = await runBatch(step);
  wallMs.push(performance.now() - began);
  used += cpuMs() - before;
  grownBytes = residentBytes("after") - resident;
  const members = groups.flat();
  asked += members.length * turns;
  const sampled = members.reduce(
    (sum, { ids }) => sum + ids.reduce((n, each) => n + each.length, 0),
    0,
  );
  const given =
    (plan.prompts[0] ?? "").split(",").length + plan.deltas.join("").split(",").length - 1;
  liveTokens = sampled + members.length * given;
}
report({
  driver: "bare",
  turns: asked,
  cpuMs: used,
  wallMs,
  grownBytes,
  liveTokens,
  version: `Bun ${Bun.version}`,
  parts: {},
});

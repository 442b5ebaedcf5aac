/**
 * `bun run test:real`: installs a real llama.cpp server and a real CPU build of vLLM, starts each with the policy in the
 * box, runs the conformance suite against it and compares logprobs with PyTorch. Not part of CI: it downloads gigabytes.
 * Arguments: names of servers to run (default all but sglang and skyrl). REAL_DIR: where things are installed.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { embeddedPolicyFolder } from "../../packages/sampler-clients/src/index.ts";
import { installLlamacpp, installSglang, installSkyrl, installVllm, run } from "./install.ts";
import type { RealServerNote } from "./real-subject.ts";
import { startLlamacpp, startSglang, startSkyrl, startVllm, type RealServer } from "./start.ts";

const here = import.meta.dir;
const dir = resolve(process.env["REAL_DIR"] ?? join(here, "../../.interlace/real-servers"));

type Plan = {
  readonly name: string;
  readonly kind: RealServerNote["kind"];
  readonly logprobs: RealServerNote["logprobs"];
  readonly scaleOut: boolean;
};

const PLANS: readonly Plan[] = [
  { name: "llamacpp", kind: "llamacpp", logprobs: "raw", scaleOut: false },
  { name: "vllm", kind: "vllm", logprobs: "raw", scaleOut: true },
  { name: "vllm-processed", kind: "vllm", logprobs: "processed", scaleOut: true },
  { name: "vllm-completions", kind: "vllm", logprobs: "raw", scaleOut: false },
  // Only when they are named: kernels are stubs here, JAX compiles for minutes there.
  { name: "sglang", kind: "sglang", logprobs: "temperature_scaled", scaleOut: true },
  { name: "skyrl", kind: "tinker", logprobs: "raw", scaleOut: true },
];

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const wanted = process.argv.slice(2);
const plans = PLANS.filter(({ name }) =>
  wanted.length === 0 ? !["sglang", "skyrl"].includes(name) : wanted.includes(name),
);
const unknown = wanted.filter((name) => !PLANS.some((plan) => plan.name === name));
if (unknown.length > 0) {
  console.error(
    `No server named ${unknown.join(", ")}; there are ${PLANS.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

await mkdir(dir, { recursive: true });
console.log(`Installing into ${dir} (the first time takes minutes)`);
const python = await installVllm(dir);
const llamaServer = await installLlamacpp(dir);
const gguf = join(dir, "policy.gguf");
const policies = join(dir, "policies");
await run([python, join(here, "make_policies.py"), embeddedPolicyFolder, policies], dir);
await run([python, join(here, "make_gguf.py"), join(policies, "first"), gguf], dir);

const table: string[] = [];
let failed = 0;
for (const plan of plans) {
  const began = performance.now();
  await using server = await startServer(plan);
  const started = (performance.now() - began) / 1000;
  const { code, figures, passed } = await test(plan, server);
  failed += code === 0 ? 0 : 1;
  table.push(`| ${plan.name} | ${started.toFixed(0)} s | ${passed} | ${figures.join("; ")} |`);
}
console.log(
  ["", "| server | start | tests | seen |", "| --- | --- | --- | --- |", ...table].join("\n"),
);
process.exit(failed === 0 ? 0 : 1);

async function startServer(plan: Plan): Promise<RealServer> {
  console.log(`Starting ${plan.name}`);
  if (plan.kind === "llamacpp") return startLlamacpp(dir, llamaServer, gguf);
  if (plan.kind === "sglang") {
    return startSglang(dir, await installSglang(dir), join(policies, "first"));
  }
  if (plan.kind === "tinker") {
    return startSkyrl(dir, await installSkyrl(dir), join(policies, "first"));
  }
  const logprobs = plan.logprobs === "processed" ? "processed" : "raw";
  const { scaleOut } = plan;
  return startVllm(dir, { python, policy: join(policies, "first"), logprobs, scaleOut });
}

async function test(plan: Plan, { url }: RealServer) {
  const note: RealServerNote & { python: string } = { ...plan, url, policies, python };
  const child = Bun.spawn(["bun", "test", join(here, "real.test.ts"), "--timeout", "60000"], {
    env: { ...process.env, REAL_SERVER: JSON.stringify(note) },
    stdout: "pipe",
    stderr: "pipe",
  });
  process.on("exit", () => child.kill());
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  console.log(`${out}${err}`);
  const figures = [...out.matchAll(/^FIGURE (.*)$/gm)].map(([, figure]) => figure!);
  const count = (word: string): string =>
    new RegExp(`^ *(\\d+) ${word}$`, "m").exec(err)?.[1] ?? "0";
  return {
    code,
    figures,
    passed: `${count("pass")} passed, ${count("fail")} failed, ${count("skip")} skipped`,
  };
}

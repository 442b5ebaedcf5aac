/** In: a run about to start. Out: what a person should know before it does, one line each. */
import { describeIsolation } from "@interlace/sandbox";
import type { ResumedRun } from "../run-folder/open-run.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import { formatCount, formatPlural } from "../terminal/format.ts";
import type { HandshakeTable } from "./open-sampler.ts";
import type { PreparedRun } from "./prepare-run.ts";

export function describeStart(
  { config, data, language, ports, record }: PreparedRun,
  folder: RunFolder,
  resumed: ResumedRun | null,
): readonly string[] {
  const { identity, sandbox } = ports;
  const { groupSize } = config.rollout;
  const batch = config.data.questionsPerBatch;
  const context =
    identity.contextLength === null ? "" : `, context ${formatCount(identity.contextLength)}`;
  const lines = [
    `run      ${folder.path}${resumed === null ? "" : ` (resumed, ${formatPlural(resumed.done.length, "step")} done)`}`,
    `sampler  ${identity.kind}: ${identity.model}${context}, weights ${identity.weightVersion ?? "unknown"}`,
    `sandbox  ${describeIsolation(sandbox.isolation())}`,
    `data     ${data.source}: ${formatPlural(data.problems.length, "problem")}, ` +
      `${formatCount(batch)} × ${groupSize} = ${formatPlural(batch * groupSize, "trajectory").replace(/ys$/, "ies")} a step`,
    ...ports.handshakes.flatMap(describeHandshake),
    ...[
      ...data.notes,
      ...repeatedProblems(data.problems.length, batch),
      ...language.warnings,
      ...ports.warnings,
    ].map((note) => `interlace: ${note}`),
  ];
  if (record.sampler["kind"] === "embedded" && !data.isBuiltIn) {
    lines.push(
      "interlace: the embedded policy is tiny and cannot do mathematics; expect reward −1 on these problems",
    );
  }
  return lines;
}

/** Batches wrap around by contract: with few problems one batch meets some of them more than once. */
function repeatedProblems(problems: number, batch: number): readonly string[] {
  if (problems >= batch) return [];
  return [
    `a batch takes ${formatPlural(batch, "problem")} and the data holds ${formatCount(problems)}: each batch repeats ` +
      `some; set data.questions_per_batch (--problems) to ${formatCount(problems)} or less to meet each once`,
  ];
}

function describeHandshake({ url, answers }: HandshakeTable): readonly string[] {
  return [
    `server   ${url}`,
    ...answers.map(
      ({ question, seen, fix }) =>
        `           ${question.padEnd(12)} ${seen}${fix === null ? "" : ` (${fix})`}`,
    ),
  ];
}

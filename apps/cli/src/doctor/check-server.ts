/** Inference servers: the handshake of a rollout, as findings. In: settings, a tokenizer when there is one. */
import { createSampler, samplerTokenizer } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { messageOf } from "../person-error.ts";
import type { Opened } from "./check-tokenizer.ts";
import { reporterFor, type Finding } from "./finding.ts";

export async function checkServer(
  { sampler: settings, rollout }: Config,
  opened: Opened | null,
  signal: AbortSignal,
  findings: Finding[],
): Promise<void> {
  const report = reporterFor("server", findings);
  const { kind, url, tokenizer: _, vocabSize, retry, ...options } = settings;
  if (kind === "embedded") return;
  if (url === null) {
    report.broken("reachable", `sampler.kind is ${kind}`, "say where it listens, with --url");
    return;
  }
  if (opened === null) {
    report.note("tokenizer", "not named, so it cannot be compared", "name it with --tokenizer DIR");
  }
  try {
    const client = await createSampler(
      {
        ...options,
        kind,
        urls: typeof url === "string" ? [url] : url,
        vocabSize: vocabSize ?? opened?.source.modelRows ?? null,
        // A person waits: what does not answer is told at once.
        retry: { ...retry, attempts: 1 },
      },
      {
        tokenizer: opened === null ? null : samplerTokenizer(opened.tokenizer),
        sampling: { temperature: rollout.temperature, topP: rollout.topP, topK: rollout.topK },
        maxTrajectoryTokens: rollout.maxTrajectoryTokens,
        maxAssistantTokens: rollout.maxAssistantTokens,
      },
      signal,
    );
    const tables = client.ok ? client.tables : [{ url: client.url, answers: client.answers }];
    for (const { answers } of tables) {
      for (const { question, seen, holds, fix } of answers) {
        if (!holds) report.broken(question, seen, fix ?? "see the server's own log");
        else if (fix === null) report.ok(question, seen);
        else report.note(question, seen, fix);
      }
    }
    if (!client.ok) return;
    for (const warning of client.warnings) {
      const [seen = warning, fix = null] = warning.split("; ");
      report.note("ratio", seen, fix);
    }
    await client[Symbol.asyncDispose]();
  } catch (error) {
    report.broken("reachable", messageOf(error), "correct sampler.* in the configuration");
  }
}

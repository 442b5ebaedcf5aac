/** The top of the page: what run this is, and what of it matters when its trajectories are read. */
import type { TableMetadata } from "@interlace/train-bridge";
import { showValue } from "../../config/showing.ts";
import type { RunRecord } from "../../run-folder/run-record.ts";
import { formatPlural } from "../../terminal/format.ts";
import { facts, fold, numberTable, type Fact } from "./facts.ts";
import { markup, type Html } from "./markup.ts";

export function runHeader(record: RunRecord, metadata: TableMetadata): Html {
  const { sampler, tokenizer, seeds, data, versions } = record;
  const who: readonly Fact[] = [
    ["command", record.command],
    ["made", record.created],
    ["Interlace", versions["interlace"] ?? "not told"],
    ["preset", record.preset],
    ["data", `${data.source}, ${formatPlural(data.problems, "problem")}`],
    ["sampler", `${asText(sampler["kind"])}, ${asText(sampler["model"])}`],
    ["weights at the start", asText(sampler["weight_version"])],
    ["logprobs", metadata.logprobKind],
    ["tokenizer", `${asText(tokenizer["id"])}, ${asText(tokenizer["vocab_size"])} ids`],
    ["sandbox", describeSandbox(record.sandbox)],
    ["seed", `${seeds.seed} (${seeds.scheme})`],
  ];
  const how: readonly Fact[] = [
    ["group size", metadata.groupSize],
    ["temperature", metadata.temperature],
    ["top_p", metadata.topP],
    ["top_k", metadata.topK ?? "off"],
    ["turns at most", setting(record, "rollout.max_assistant_turns")],
    ["tool calls at most", setting(record, "rollout.max_code_calls")],
    ["tokens of a trajectory at most", setting(record, "rollout.max_trajectory_tokens")],
    ["tokens of a turn at most", setting(record, "rollout.max_assistant_tokens")],
    ["advantages", metadata.advantageEstimator],
    ["config hash", record.config_hash.slice(0, 12)],
  ];
  return markup`<header>
    <h1>Run ${record.run_id}</h1>
    ${facts(who)}${facts(how)}${fold("All settings", numberTable(settings(record)))}
  </header>`;
}

function setting({ config }: RunRecord, name: string): string | null {
  const value = config[name];
  return value === undefined ? null : showValue(name, value);
}

/** Those that somebody set come first and say who. */
function settings({ config, origins }: RunRecord): readonly (readonly [string, string])[] {
  const rows = Object.entries(config).map(([name, value]) => {
    const origin = origins[name];
    return [
      name,
      `${showValue(name, value)}${origin === undefined ? "" : `  (${origin})`}`,
    ] as const;
  });
  return rows.toSorted(([a], [b]) => Number(b in origins) - Number(a in origins));
}

function describeSandbox(sandbox: RunRecord["sandbox"]): string {
  if (typeof sandbox !== "object" || sandbox === null || Array.isArray(sandbox)) return "not told";
  return `${asText(sandbox["backend"])}, ${asText(sandbox["level"])}`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "not told");
}

/**
 * Opens everything that a run needs and looks at all of it before anything is written: data, language, ports.
 * In: the configuration, and the record of a run that goes on. Out: a run that only has to be carried out.
 */
import { resolve } from "node:path";
import type { RunFacts } from "@interlace/train-bridge";
import packageJson from "../../package.json";
import { valuesOf } from "../config/catalogue.ts";
import { hashConfig } from "../config/config-hash.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";
import { mayShow } from "../config/showing.ts";
import { wrongUse } from "../person-error.ts";
import {
  isolationToJson,
  RUN_RECORD_VERSION,
  type RunCommand,
  samplerToJson,
  type RunRecord,
} from "../run-folder/run-record.ts";
import { checkPlan, refuseOverLongPrompts } from "./check-plan.ts";
import { openLanguage, type Language } from "./open-language.ts";
import { openPorts, type OpenedPorts } from "./open-ports.ts";
import { openProblems, type OpenedProblems } from "./open-problems.ts";
import { openTokenizer, type TokenizerSource } from "./open-tokenizer.ts";
import { runFacts } from "./run-facts.ts";

export type PreparedRun = {
  readonly config: Config;
  readonly data: OpenedProblems;
  readonly language: Language;
  readonly ports: OpenedPorts;
  readonly facts: RunFacts;
  readonly record: RunRecord;
};

export type RunIdentity = {
  readonly id: string;
  readonly now: Date;
  readonly command: RunCommand;
};

export type Surroundings = {
  /** Owns what is opened. */
  readonly stack: AsyncDisposableStack;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
  /** What opens sampler, sandbox and grader; default: as configured. */
  readonly openPorts?: typeof openPorts;
  /** Begins to load what comes after the start; called once servers and Python are being waited for. */
  readonly loadRest?: () => void;
};

/** Settings that name files: kept absolute, so that a run can be resumed from another folder. */
const FILE_SETTINGS = [
  "data.path",
  "protocol.system_prompt_file",
  "protocol.tool_description_file",
];

/** Throws a PersonError on anything that cannot work. */
export async function prepareRun(
  resolved: ResolvedConfig,
  resumed: RunRecord | null,
  identity: RunIdentity,
  { stack, signal, tell, openPorts: open = openPorts, loadRest = () => {} }: Surroundings,
): Promise<PreparedRun> {
  const { config } = resolved;
  const data = await openProblems(config);
  const now = resumed === null ? identity.now : new Date(resumed.template_clock);
  const source = await openTokenizer(config, signal, tell);
  async function openInputs() {
    const language = await openLanguage(config, source, now.getTime());
    const inputHashes = { data: data.hash, ...language.hashes };
    if (resumed !== null) refuseOtherInputs(resumed, inputHashes);
    refuseOverLongPrompts(config, data.problems, language.protocol);
    return { language, inputHashes };
  }
  // A tokenizer takes a while to read: what waits for processes and networks begins before it.
  const inputs = openInputs();
  const opening = open(
    config,
    inputs.then(({ language }) => language),
    source,
    signal,
    tell,
  );
  loadRest();
  const ports = stack.use(await opening);
  const { language, inputHashes } = await inputs;
  checkPlan(config, ports.identity, language.protocol.vocabSize);
  const configHash = hashConfig(config, inputHashes);
  const { rollout } = config;
  return {
    config,
    data,
    language,
    ports,
    facts: runFacts(config, language, ports.identity, configHash),
    record: resumed ?? {
      v: RUN_RECORD_VERSION,
      run_id: identity.id,
      command: identity.command,
      created: identity.now.toISOString(),
      versions: { interlace: packageJson.version, bun: Bun.version, platform: platformName() },
      preset: resolved.preset,
      config: recordedValues(config, source),
      origins: Object.fromEntries(resolved.origins),
      config_hash: configHash,
      input_hashes: inputHashes,
      seeds: { seed: rollout.seed, scheme: rollout.seedScheme },
      data: { source: data.source, problems: data.problems.length },
      template_clock: now.toISOString(),
      sampler: samplerToJson(ports.identity),
      tokenizer: { id: language.tokenizerId, vocab_size: language.protocol.vocabSize },
      handshakes: ports.handshakes.map(({ url, answers }) => ({ url, answers: [...answers] })),
      sandbox: isolationToJson(ports.sandbox.isolation()),
      redacted: false,
    },
  };
}

function recordedValues(config: Config, source: TokenizerSource): RunRecord["config"] {
  // No key is ever written down: a resumed run is told again what may be one.
  const set = Object.entries(valuesOf(config)).filter(
    ([name, value]) => value !== undefined && mayShow(name, value),
  );
  const values = Object.fromEntries(set) as RunRecord["config"];
  for (const name of FILE_SETTINGS) {
    const path = values[name];
    if (typeof path === "string") values[name] = resolve(path);
  }
  values["data.mixture"] = config.data.mixture.map((part) => ({
    ...part,
    path: resolve(part.path),
  }));
  // A hub's branch may move; what was used has a commit.
  if (config.sampler.tokenizer !== null) values["sampler.tokenizer"] = source.exact;
  return values;
}

function refuseOtherInputs(record: RunRecord, hashes: Readonly<Record<string, string>>): void {
  for (const [name, hash] of Object.entries(hashes)) {
    if (record.input_hashes[name] === hash) continue;
    throw wrongUse(
      `The ${name} of run ${record.run_id} has changed since it was started ` +
        `(SHA-256 ${record.input_hashes[name]?.slice(0, 12)}, now ${hash.slice(0, 12)}): restore it, or start a new run`,
    );
  }
}

function platformName(): string {
  return `${process.platform} ${process.arch}`;
}

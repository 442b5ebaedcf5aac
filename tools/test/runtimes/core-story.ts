/**
 * The core's story, told the same on Bun, Deno and Node: a whole rollout with a real tokenizer and
 * chat template in a scripted world, in both schedules and resumed, down to what a learner trains on.
 *
 * In: the core's source as it is, through its index. Out: lines that must be the same everywhere;
 * throws where the story goes wrong. Uses only what all three have.
 */
import { readFileSync } from "node:fs";
import {
  buildLedger,
  checkLedger,
  collect,
  continuous,
  createProtocol,
  formatKey,
  loadPackedTokenizer,
  loadTokenizer,
  measureStep,
  packTokenizer,
  prepareStep,
  projectMicroBatch,
  qwen3Coder,
  rolloutConfigSchema,
  rounds,
  terminationOf,
  type Event,
  type Group,
  type Plan,
} from "../../../packages/core/src/index.ts";
import {
  BROKEN_SANDBOX,
  printed,
  problem,
  scriptedPorts,
  type World,
} from "../../../packages/core/test/support/scripted-world.ts";

const listed = JSON.parse(vector("byte-tokenizer/tokenizer.json")) as unknown;
const config = JSON.parse(vector("byte-tokenizer/tokenizer_config.json")) as unknown;
const tokenizer = loadTokenizer({ tokenizer: listed, config });
const packed = packTokenizer(listed, await tokenizer.fingerprint());
const unpacked = packed && loadPackedTokenizer(packed, { config });
const odd = "It is 42, ½ 語 <|im_end|>";
equal("ids of a packed tokenizer", unpacked?.encode(odd).join(), tokenizer.encode(odd).join());
console.log(`tokenizer ${(await unpacked?.fingerprint()) ?? "none"}`);
const plan: Plan = {
  config: rolloutConfigSchema.parse({ groupSize: 4, seed: 7 }),
  protocol: createProtocol({
    tokenizer,
    chatTemplate: vector("chat-template.jinja"),
    dialect: qwen3Coder,
    now: 0,
  }),
  step: 0,
};

/** Of each problem's four members one answers, one works it out, one errs, one never gets its tool. */
const world: World = {
  say(question, group, turn) {
    if (group === 0) return ids("It is 42");
    if (group === 2) return ids(`<tool_call>not a call, ${question}`);
    return turn === 0 ? ids(call(group === 3 ? "die" : "print(6*7)")) : ids("So it is 42");
  },
  tool: ({ code }) => (code === "die" ? BROKEN_SANDBOX : printed("42 <|im_end|> ½ 語\n")),
};

const problems = Array.from({ length: 5 }, (_, i) => problem(`What is 6 × 7? (${i})`));

const first = await tell("continuous", continuous, []);
const second = await tell("rounds", rounds, []);
const resumed = await tell("resumed", continuous, first.events.slice(0, 23));

equal("rounds", second.facts, first.facts);
equal("resumed", resumed.facts, first.facts);
equal("requests saved by resuming", resumed.issued, first.issued - 23);
for (const line of first.facts) console.log(line);

type Told = {
  readonly facts: readonly string[];
  readonly events: readonly Event[];
  readonly issued: number;
};

async function tell(name: string, schedule: typeof rounds, past: readonly Event[]): Promise<Told> {
  const { ports } = scriptedPorts(world);
  const events: Event[] = [];
  let issued = 0;
  const batch = await collect(plan, problems, ports, {
    schedule,
    past,
    onEvent: (event) => void events.push(event),
    onCommand: () => void (issued += 1),
  });
  equal(`${name} ended`, batch.end, "complete");
  const step = prepareStep(batch.groups, { maxContextTokens: 4096 });
  const ledger = buildLedger(step, { asked: 20 });
  equal(`${name}'s ledger`, checkLedger(ledger), []);
  equal(`${name}'s ends`, ledger.terminations, {
    answer: 10,
    invalid_format: 5,
    tool_failed: 5,
  });
  const facts = [...batch.groups.flatMap(tellGroup), JSON.stringify(measureStep(step))];
  for (const microBatch of step.microBatches) {
    for (const datum of projectMicroBatch(step, microBatch)) {
      const parts = Object.entries(datum).map(
        async ([field, array]) => `${field} ${await digest(array)}`,
      );
      facts.push((await Promise.all(parts)).toSorted().join(" "));
    }
  }
  return { facts, events, issued };
}

function vector(name: string): string {
  return readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), "utf8");
}

function ids(text: string): readonly number[] {
  return [...tokenizer.encode(`${text}<|im_end|>`)];
}

function call(code: string): string {
  const parameter = `<parameter=code>\n${code}\n</parameter>`;
  return `<tool_call>\n<function=code_interpreter>\n${parameter}\n</function>\n</tool_call>`;
}

function tellGroup({ question, members }: Group): string[] {
  return members.map((member) => {
    const key = formatKey({ step: 0, question, group: member.index, turn: member.turns.length });
    return `${key} ${terminationOf(member)} ${member.tokens.length} tokens, ${member.codeCalls} calls`;
  });
}

async function digest(array: Int32Array | Float32Array | Uint8Array): Promise<string> {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return hash.slice(0, 8).toHex();
}

function equal(what: string, seen: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`);
}

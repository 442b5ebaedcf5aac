/**
 * What all fakes share: the script of faults, the record of what was asked, the one way from a request to samples.
 * A kind adds its routes, its words and its rules.
 */
import type { Context, Hono } from "hono";
import type { ServerLogprobs } from "./explain-row.ts";
import { openFakeModel, type FakeModel, type FakeSample, type FakeSampling } from "./fake-model.ts";
import { isWireFault, type Fault } from "./faults.ts";
import { latencyOf, wait, type Latency } from "./latency.ts";
import { applyWireFault } from "./wire-fault.ts";

export type Seen = {
  /** `POST /generate`. */
  readonly route: string;
  /** Among requests of the same route, from 0. */
  readonly place: number;
  /** Parsed JSON; null when it is none. */
  readonly body: unknown;
};

export type FakeOptions = {
  /** Folder of the policy that is served; absent = the one in the box. */
  readonly folder?: string;
  readonly model?: string;
  /** What the logprobs mean; absent = what the real server does by default. */
  readonly logprobs?: ServerLogprobs;
  /** Asked once for every request that samples or encodes. */
  readonly faults?: (seen: Seen) => Fault | null;
  readonly latency?: Latency;
  /** false: unknown and missing fields are treated as the real server does. */
  readonly strict?: boolean;
  /** Seeds what the server draws by itself. */
  readonly entropy?: number;
};

export type FakeServer = {
  readonly app: Hono;
  readonly model: FakeModel;
  /** Every request that samples or encodes, in order of arrival. */
  readonly seen: readonly Seen[];
  /** Control calls as `POST /pause?mode=keep {}`, in order of arrival. */
  readonly control: readonly string[];
  /** What a request lacked or had too much of, one sentence each. */
  readonly complaints: readonly string[];
  /** Requests that are being answered now. */
  running(): number;
};

export type Core = {
  readonly options: FakeOptions;
  readonly model: FakeModel;
  readonly modelName: string;
  readonly strict: boolean;
  readonly seen: Seen[];
  readonly control: string[];
  readonly complaints: string[];
  readonly logprobs: ServerLogprobs;
  running: number;
};

export async function openCore(options: FakeOptions, logprobs: ServerLogprobs): Promise<Core> {
  return {
    options,
    model: await openFakeModel(options.folder, options.entropy),
    modelName: options.model ?? "interlace-embedded",
    strict: options.strict ?? true,
    seen: [],
    control: [],
    complaints: [],
    logprobs: options.logprobs ?? logprobs,
    running: 0,
  };
}

export function asServer(app: Hono, core: Core): FakeServer {
  // A bug of the fake or its script: no real server says 599.
  app.onError((error) => {
    core.complaints.push(`Expected an answer, the fake or its script broke: ${error.message}`);
    return new Response(error.message, { status: 599 });
  });
  return {
    app,
    model: core.model,
    seen: core.seen,
    control: core.control,
    complaints: core.complaints,
    running: () => core.running,
  };
}

/** One request under a script: latency, wire faults, and the handler's own answer between them. */
export async function underScript(
  core: Core,
  c: Context,
  handle: (body: unknown, fault: Fault | null, signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const { signal } = c.req.raw;
  const body = readJson(await c.req.text());
  const route = `${c.req.method} ${c.req.path}`;
  const place = core.seen.filter((other) => other.route === route).length;
  const seen = { route, place, body };
  core.seen.push(seen);
  core.running++;
  try {
    const fault = core.options.faults?.(seen) ?? null;
    const thinking = latencyOf(core.options.latency ?? { type: "none" }, place);
    if (thinking > 0) await wait(thinking, signal);
    if (!isWireFault(fault)) return await handle(body, fault, signal);
    return await applyWireFault(fault, () => handle(body, null, signal), signal);
  } finally {
    core.running--;
  }
}

/** Notes a control call; its body parsed, null when there is none. */
export async function noteControl(core: Core, c: Context): Promise<unknown> {
  const text = await c.req.text();
  const url = new URL(c.req.url);
  core.control.push(`${c.req.method} ${url.pathname}${url.search}${text === "" ? "" : ` ${text}`}`);
  return readJson(text);
}

/** One per sampling value; each ends by its own signal too. */
export async function generateAll(
  core: Core,
  prompt: readonly number[],
  wanted: readonly FakeSampling[],
  fault: Fault | null,
  signals: readonly AbortSignal[],
): Promise<readonly FakeSample[]> {
  const used = usedPrompt(prompt, fault);
  let changed = false;
  return Promise.all(
    wanted.map((sampling, i) => {
      const aborting = new AbortController();
      const signal = AbortSignal.any([signals[i]!, aborting.signal]);
      return core.model.generate(used, sampling, signal, (index) => {
        if (fault?.type === "abort" && index + 1 >= fault.after) aborting.abort();
        if (fault?.type !== "new_weights" || index + 1 < fault.after || changed) return;
        changed = true;
        changeWeights(core, fault);
      });
    }),
  );
}

/** What the server says it sampled from. */
export function usedPrompt(prompt: readonly number[], fault: Fault | null): readonly number[] {
  if (fault?.type !== "prompt") return prompt;
  return fault.change === "truncated" ? prompt.slice(1) : [prompt[0]!, ...prompt];
}

function changeWeights(core: Core, fault: Extract<Fault, { type: "new_weights" }>): void {
  const { version, location } = fault;
  core.model.labelVersion(version);
  if (location === null) return;
  // No token comes from the old weights under the new name.
  core.model.pause();
  core.model
    .swapWeights(location)
    .catch((error: unknown) => {
      core.complaints.push(`Expected weights at ${location}: ${String(error)}`);
    })
    .finally(() => {
      core.model.forgetCache();
      core.model.resume();
    });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

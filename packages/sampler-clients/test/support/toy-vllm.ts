/**
 * A server that speaks as much of vLLM as the wrappers need, over a toy language of sixteen words whose chances never
 * depend on the context, so every logprob is known. Faults are played per request, on the bare socket where needed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const LOGITS = [2, 1.8, 1.5, 1.2, 1, 0.8, 0.5, 0.2, 0, -0.3, -0.5, -1, -1.2, -1.5, -2, -3];
export const VOCAB = LOGITS.length;

export type Fault =
  | "reset before headers"
  | "reset after headers"
  | "cut in the body"
  | "429"
  | "502 html"
  | "503 html"
  | "504 html"
  | "500 text"
  | "400"
  | "200 html"
  | "one sample too few"
  | "NaN logprob"
  | "null logprob"
  | "-9999"
  | "foreign id"
  | "other entry id"
  | "longer logprobs"
  | "other prompt"
  | "never";

export type Received = {
  readonly request_id: string;
  readonly model: string;
  readonly token_ids: readonly number[];
  readonly sampling_params: {
    readonly n: number;
    readonly seed: number;
    readonly max_tokens: number;
    readonly temperature: number;
    readonly top_p: number;
    readonly stop_token_ids: readonly number[];
  };
};

export type ToyOptions = {
  readonly logprobs?: "raw" | "processed";
  readonly seeds?: boolean;
  /** Asked once per generation request, in order of arrival from 0. */
  readonly fault?: (place: number, received: Received) => Fault | null;
  readonly delayMs?: (place: number) => number;
  readonly apiKey?: string;
  readonly contextLength?: number;
  readonly scaleOut?: boolean;
  readonly model?: string;
  readonly health?: () => boolean;
  /** Overrides a route: `POST /tokenize` → JSON text. */
  readonly routes?: Readonly<Record<string, string>>;
  readonly metrics?: () => string;
};

export type ToyServer = AsyncDisposable & {
  readonly url: string;
  /** Generation requests in order of arrival. */
  readonly received: Received[];
  /** Every other call: `POST /resume {}`. */
  readonly control: string[];
  readonly aborted: string[];
  /** Generations that are being answered now. */
  running(): number;
  mostRunning(): number;
  version: string;
};

export async function toyVllm(options: ToyOptions = {}): Promise<ToyServer> {
  let running = 0;
  let most = 0;
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const toy: ToyServer = {
    url: "",
    received: [],
    control: [],
    aborted: [],
    running: () => running,
    mostRunning: () => most,
    version: "default",
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const route = `${request.method} ${request.url}`;
    if (
      options.apiKey !== undefined &&
      request.headers.authorization !== `Bearer ${options.apiKey}`
    ) {
      return send(response, 401, '{"error":"Unauthorized"}');
    }
    const given = options.routes?.[route];
    if (given !== undefined) {
      toy.control.push(`${route} ${text}`);
      return send(response, 200, given);
    }
    if (route === "POST /inference/v1/generate") {
      if (options.scaleOut === false)
        return send(response, 403, '{"error":{"message":"disabled"}}');
      if (text === "{}")
        return send(response, 400, '{"error":{"message":"token_ids: Field required"}}');
      return generate(JSON.parse(text) as Received, response);
    }
    toy.control.push(`${route} ${text}`);
    if (route === "GET /health")
      return send(response, options.health?.() === false ? 503 : 200, "");
    if (route === "GET /metrics" && options.metrics) return send(response, 200, options.metrics());
    if (route === "GET /weight_info") return sendJson(response, { weight_version: toy.version });
    if (route === "GET /v1/models") {
      const card = { id: options.model ?? "toy", max_model_len: options.contextLength ?? 1024 };
      return sendJson(response, { object: "list", data: [card] });
    }
    if (route === "POST /inference/v1/abort_requests") {
      toy.aborted.push(...(JSON.parse(text) as { request_ids: string[] }).request_ids);
      return send(response, 200, "");
    }
    send(response, 404, '{"detail":"Not Found"}');
  }

  async function generate(received: Received, response: ServerResponse): Promise<void> {
    const place = toy.received.length;
    toy.received.push(received);
    running += 1;
    most = Math.max(most, running);
    try {
      const wait = options.delayMs?.(place) ?? 0;
      if (wait > 0) await Bun.sleep(wait);
      const fault = options.fault?.(place, received) ?? null;
      if (fault === "never") {
        await new Promise((resolve) => response.on("close", resolve));
        return;
      }
      play(fault, answer(received, options, toy.version, fault), response);
    } finally {
      running -= 1;
    }
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(toy, { url: `http://127.0.0.1:${port}` });
}

function sendJson(response: ServerResponse, body: unknown): void {
  send(response, 200, JSON.stringify(body));
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = "application/json",
): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const WIRE_FAULTS = [
  "reset before headers",
  "reset after headers",
  "cut in the body",
  "429",
  "502 html",
  "503 html",
  "504 html",
  "500 text",
  "400",
  "200 html",
] as const;
type WireFault = (typeof WIRE_FAULTS)[number];

function wireFault(fault: Fault | null): WireFault | null {
  return WIRE_FAULTS.find((one) => one === fault) ?? null;
}

function play(fault: Fault | null, body: string, response: ServerResponse): void {
  const page = "<html><h1>bad gateway</h1></html>";
  switch (wireFault(fault)) {
    case "reset before headers":
      response.socket?.destroy();
      return;
    case "reset after headers":
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": body.length,
      });
      response.flushHeaders();
      response.socket?.destroySoon();
      return;
    case "cut in the body":
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": body.length,
      });
      response.write(body.slice(0, body.length / 2), () => response.socket?.destroySoon());
      return;
    case "429":
      response.setHeader("retry-after", "0.001");
      return send(response, 429, '{"error":"overloaded"}');
    case "502 html":
    case "503 html":
    case "504 html":
      return send(response, Number(fault?.slice(0, 3)), page, "text/html");
    case "500 text":
      return send(response, 500, "Internal Server Error", "text/plain");
    case "400":
      return send(response, 400, '{"error":{"message":"too long","code":400}}');
    case "200 html":
      return send(response, 200, page, "text/html");
    case null:
      return send(response, 200, body);
  }
}

function answer(
  received: Received,
  options: ToyOptions,
  version: string,
  fault: Fault | null,
): string {
  const { n, seed } = received.sampling_params;
  const choices = Array.from({ length: n }, (_, index) => {
    const base = options.seeds === false ? Math.floor(Math.random() * 2 ** 31) : seed;
    return choose(received, base + index, options, index, version);
  });
  const first = choices[0]!;
  if (fault === "one sample too few") choices.pop();
  if (fault === "null logprob") first.logprobs.content[0]!.logprob = null;
  if (fault === "-9999") first.logprobs.content[0]!.logprob = -9999;
  if (fault === "foreign id") first.token_ids[0] = VOCAB;
  if (fault === "other entry id") first.logprobs.content[0]!.token_id += 1;
  if (fault === "longer logprobs") first.logprobs.content.push({ token_id: 1, logprob: -1 });
  const prompt = received.token_ids;
  const text = JSON.stringify({
    choices,
    usage: { prompt_tokens: prompt.length },
    prompt_token_ids: fault === "other prompt" ? prompt.map((id) => id + 1) : prompt,
  });
  return fault === "NaN logprob" ? text.replace(/"logprob":-[\d.]+/, '"logprob":NaN') : text;
}

type Choice = {
  index: number;
  token_ids: number[];
  logprobs: { content: { token_id: number; logprob: number | null }[] };
  finish_reason: string;
  weight_versions: { version: string; start: number; end: number }[];
};

function choose(
  received: Received,
  seed: number,
  options: ToyOptions,
  index: number,
  version: string,
): Choice {
  const { max_tokens, temperature, top_p, stop_token_ids } = received.sampling_params;
  const chances = distribution(temperature, top_p);
  const shown = options.logprobs === "processed" ? chances : distribution(1, 1);
  const random = generator(seed);
  const ids: number[] = [];
  while (ids.length < max_tokens) {
    ids.push(draw(chances, random()));
    if (stop_token_ids.includes(ids.at(-1)!)) break;
  }
  return {
    index,
    token_ids: ids,
    logprobs: { content: ids.map((id) => ({ token_id: id, logprob: Math.log(shown.get(id)!) })) },
    finish_reason: stop_token_ids.includes(ids.at(-1)!) ? "stop" : "length",
    weight_versions: [{ version, start: 0, end: ids.length }],
  };
}

/** Chances of the ids that top_p keeps, renormalised. */
export function distribution(temperature: number, topP: number): ReadonlyMap<number, number> {
  const weights = LOGITS.map((logit) => Math.exp(logit / temperature));
  const total = weights.reduce((a, b) => a + b, 0);
  const kept = new Map<number, number>();
  let mass = 0;
  // The logits are written in falling order.
  for (const [id, weight] of weights.entries()) {
    if (mass >= topP) break;
    kept.set(id, weight / total);
    mass += weight / total;
  }
  return new Map([...kept].map(([id, p]) => [id, p / mass]));
}

function draw(chances: ReadonlyMap<number, number>, at: number): number {
  let left = at;
  for (const [id, p] of chances) {
    left -= p;
    if (left < 0) return id;
  }
  return [...chances.keys()].at(-1)!;
}

/** SplitMix32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  };
}

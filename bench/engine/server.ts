/**
 * A mock inference server in a process of its own: `bun bench/engine/server.ts`. Prints its URL. A cell is POSTed to
 * `/bench/cell`; then requests are answered from bytes made before, after the delay that the seed's place has.
 * `/bench/cpu` tells the CPU milliseconds that this process used. Reads of a request its seed and its prompt's text.
 */
import { answerOf, makeBodies, type Bodies, type Sample } from "./bodies.ts";
import { openLanguage } from "./language.ts";
import { PATHS } from "./plan-file.ts";
import { createPlaceFinder, delayMs, type Cell, type Place } from "./workload.ts";

type Armed = {
  readonly cell: Cell;
  readonly bodies: Bodies;
  readonly find: (seed: number) => Place | null;
};

const JSON_HEADERS = { "content-type": "application/json" };
const language = await openLanguage();
const kept = new Map<string, Bodies>();
let armed: Armed | null = null;

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  maxRequestBodySize: 1 << 30,
  fetch: answer,
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));

async function answer(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  if (path === "/bench/cell") return arm((await request.json()) as Cell);
  if (path === "/bench/cpu") {
    const { user, system } = process.cpuUsage();
    return Response.json({ cpuMs: (user + system) / 1000 });
  }
  if (path === "/v1/models") {
    return Response.json({ data: [{ id: "bench", object: "model", max_model_len: 65_536 }] });
  }
  if (path === "/server_info") return Response.json({ enable_deterministic_inference: true });
  if (path === "/model_info") return Response.json({ weight_version: "default" });
  if (armed !== null && path === PATHS[armed.cell.wire])
    return sample(armed, await request.bytes());
  return Response.json({ detail: "Not Found" }, { status: 404 });
}

function arm(cell: Cell): Response {
  const name = `${cell.wire} ${cell.shape} ${cell.observation}`;
  const bodies = kept.get(name) ?? makeBodies(language, cell);
  kept.set(name, bodies);
  armed = { cell, bodies, find: createPlaceFinder(cell) };
  return Response.json({});
}

async function sample({ cell, bodies, find }: Armed, bytes: Uint8Array): Promise<Response> {
  const request = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const place = find(readSeed(request));
  if (place === null) return handshake(cell, request);
  const ms = delayMs(cell.latency, place);
  if (ms > 0) await Bun.sleep(ms);
  const pieces =
    place.group === null ? bodies.first : (bodies.later[place.turn]?.[place.group] ?? []);
  const echo = readPrompt(request);
  const parts = pieces.flatMap((piece, i) => (i === 0 ? [piece] : [echo, piece]));
  return new Response(Buffer.concat(parts), { headers: JSON_HEADERS });
}

/** Of the first sample; SGLang's parameters stand behind the ids, too. */
function readSeed(request: Buffer): number {
  const batch = request.lastIndexOf('"sampling_params":[');
  const name = batch === -1 ? '"seed":' : '"sampling_seed":';
  const at = batch === -1 ? request.lastIndexOf(name) : request.indexOf(name, batch);
  return at === -1
    ? -1
    : Number.parseInt(request.toString("latin1", at + name.length, at + name.length + 12), 10);
}

/** The first list of ids, brackets included. */
function readPrompt(request: Buffer): Uint8Array {
  const open = /"(?:token_ids|prompt|input_ids)":\[+/.exec(request.toString("latin1", 0, 300));
  const start = (open?.index ?? 0) + (open?.[0].length ?? 0);
  return request.subarray(start - 1, request.indexOf("]", start) + 1);
}

type Asked = {
  readonly n?: number;
  readonly max_tokens?: number;
  readonly stop_token_ids?: readonly number[];
  readonly sampling_params?: Asked & { readonly max_new_tokens?: number } & readonly Asked[];
  readonly token_ids?: readonly number[];
  readonly prompt?: readonly number[];
  readonly input_ids?: readonly (readonly number[])[];
};

/** Small requests with seeds of their own: any ids will do. */
function handshake(cell: Cell, request: Buffer): Response {
  const asked = JSON.parse(request.toString()) as Asked;
  const prompt = asked.token_ids ?? asked.prompt ?? asked.input_ids?.[0];
  if (prompt === undefined) return Response.json({ detail: "No prompt" }, { status: 400 });
  const params = asked.sampling_params?.[0] ?? asked.sampling_params ?? asked;
  const count = asked.input_ids?.length ?? params.n ?? 1;
  const limit = params.max_tokens ?? (params as { max_new_tokens?: number }).max_new_tokens ?? 1;
  const samples = Array.from({ length: count }, (_, index): Sample => {
    const drawn = Array.from({ length: limit }, (__, i) => 100 + index + i);
    const stop = drawn.findIndex((id) => params.stop_token_ids?.includes(id) === true);
    const ids = stop === -1 ? drawn : drawn.slice(0, stop + 1);
    return {
      index,
      ids,
      logprobs: ids.map(() => -0.5),
      text: language.protocol.decodeTurn(Int32Array.from(ids)),
      finish: stop === -1 ? "length" : "stop",
    };
  });
  const text = answerOf(cell.wire, samples, prompt.length).replaceAll(
    '"@echo@"',
    JSON.stringify(prompt),
  );
  return new Response(text, { headers: JSON_HEADERS });
}

/**
 * The recorded exchanges and what an independent reader makes of them (`expect.py`). Every exchange was had with a
 * real server: vLLM 0.32.0, SGLang 0.5.23, llama.cpp b10434 and b11434, SkyRL 0.3.0, all with one tiny random
 * model (576 rows, EOS 2, context 1024) but for SmolLM2-135M in `smollm2`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Call, Http, Reply } from "../../src/http.ts";

export type Exchange = {
  readonly file: string;
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly body_text?: string;
    readonly body_hex?: string;
  };
};

export type ExpectedSample =
  | string
  | {
      readonly n: number;
      readonly finish: string;
      readonly ids: string;
      readonly logprobs: string;
      readonly versions: readonly (readonly [string, number, number])[];
      readonly text: string | null;
    };

/** What a request asked for, as far as an answer is held against it. */
export type Asked = {
  readonly prompt: readonly number[];
  readonly samples: number;
  readonly max: number;
  readonly stop: readonly number[];
  readonly vocab: number;
  readonly rids?: readonly string[];
};

export type Expected = { readonly file: string } & (
  | { readonly reading: "trouble"; readonly cause: string; readonly again: boolean }
  | { readonly reading: "json" | "no_json" }
  | {
      readonly reading: "samples";
      readonly asked: Asked & {
        readonly wire: "vllm-generate" | "vllm-completions" | "sglang" | "llamacpp" | "tinker";
      };
      readonly samples: readonly ExpectedSample[];
    }
);

const gz = Bun.gunzipSync(readFileSync(join(import.meta.dir, "exchanges.jsonl.gz")));
const exchangeLines = linesOf(new TextDecoder().decode(gz));
export const EXCHANGES = exchangeLines.map((line) => JSON.parse(line) as Exchange);
export const EXPECTED = linesOf(readFileSync(join(import.meta.dir, "expected.jsonl"), "utf8")).map(
  (line) => JSON.parse(line) as Expected,
);

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

export function exchangeOf(file: string): Exchange {
  const found = EXCHANGES.find((exchange) => exchange.file === file);
  if (found === undefined) throw new Error(`No recording named ${file}`);
  return found;
}

export function replyOf(exchange: Exchange): Reply {
  const { response } = exchange;
  const headers = new Headers(response.headers);
  return {
    ok: true,
    status: response.status,
    contentType: (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase(),
    afterMs: null,
    header: (name) => headers.get(name),
    bytes: bytesOf(exchange),
  };
}

function bytesOf(exchange: Exchange): Uint8Array {
  const { body_hex, body_text, body, headers } = exchange.response;
  if (body_hex !== undefined) return Uint8Array.fromHex(body_hex);
  if (body_text !== undefined) return new TextEncoder().encode(body_text);
  const sent = asSent(exchangeLines[EXCHANGES.indexOf(exchange)] ?? "");
  if (String(sent.length) === headers["content-length"]) return sent;
  return new TextEncoder().encode(JSON.stringify(body) ?? "");
}

/** The body as it stands in its line: JSON.stringify would make -5 of -5.0. */
function asSent(line: string): Uint8Array {
  const name = '"body":';
  const at = line.indexOf(name, line.indexOf('"response":')) + name.length;
  return new TextEncoder().encode(line.slice(at, -"}}".length));
}

/** A server that answers from recordings: `"POST /generate"` → file; anything else is a 404. */
export function recordedHttp(files: Readonly<Record<string, string>>, seen: Call[] = []): Http {
  return {
    url: "http://recorded",
    send: (call) => {
      seen.push(call);
      const file = files[`${call.method} ${call.path}`];
      if (file === undefined) {
        const bytes = new TextEncoder().encode('{"detail":"Not Found"}');
        const rest = { contentType: "application/json", afterMs: null, header: () => null, bytes };
        return Promise.resolve({ ok: true, status: 404, ...rest });
      }
      return Promise.resolve(replyOf(exchangeOf(file)));
    },
  };
}

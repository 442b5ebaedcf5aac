/**
 * HTTP to one server. In: a call. Out: its answer whatever the status, or a `Trouble` when the wire broke;
 * rejects only on abort. Holds keys, headers, TLS and time-outs; refuses to know what the bodies mean.
 *
 * Bun runs at most 256 fetches at once unless BUN_CONFIG_MAX_HTTP_REQUESTS says more before it starts, and
 * drops a connection that is idle for minutes: `timeout: false` lifts that, so the only limits are ours.
 */
import { linkSignal } from "./link-signal.ts";
import { trouble, type Trouble } from "./trouble.ts";

export type Call = {
  readonly method: "GET" | "POST";
  /** Begins with `/`, joined to the server's URL. */
  readonly path: string;
  /** JSON text; absent = no body. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole exchange; null = none (the caller's signal ends it). */
  readonly limitMs: number | null;
};

export type Reply = {
  readonly ok: true;
  readonly status: number;
  /** Lower case, without parameters; empty = the server named none. */
  readonly contentType: string;
  /** Milliseconds that the server asks to wait (Retry-After), null = none. */
  readonly afterMs: number | null;
  header(name: string): string | null;
  readonly bytes: Uint8Array;
};

export type TlsOptions = {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  /** false = accept any certificate. */
  readonly verify?: boolean;
};

export type HttpOptions = {
  /** Base URL, with or without a trailing slash. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsOptions;
};

export interface Http {
  readonly url: string;
  send(call: Call, signal: AbortSignal): Promise<Reply | Trouble>;
}

const decoder = new TextDecoder();

export function replyText(reply: Reply): string {
  return decoder.decode(reply.bytes);
}

export function openHttp(options: HttpOptions): Http {
  const url = options.url.replace(/\/+$/, "");
  const tls = tlsInit(options.tls);
  const common = { ...JSON_HEADERS, ...options.headers };
  async function send(call: Call, signal: AbortSignal): Promise<Reply | Trouble> {
    using linked = call.limitMs === null ? null : linkSignal(signal, call.limitMs);
    try {
      const response = await fetch(url + call.path, {
        method: call.method,
        headers: call.headers === undefined ? common : { ...common, ...call.headers },
        body: call.body ?? null,
        signal: linked?.signal ?? signal,
        redirect: "manual",
        ...tls,
        ...NO_IDLE_LIMIT,
      });
      // The body is read here, so that a cut in its middle is a fault of the wire and not of its reader.
      const bytes = await response.bytes();
      return toReply(response, bytes);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      return wireTrouble(url, call, linked?.timedOut() ?? false, error);
    }
  }
  return { url, send };
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json" };

// Not in the types of 1.4.5; the opt-in test with a ten-minute stall shows that it is needed and that it works.
const NO_IDLE_LIMIT: object = { timeout: false };

function tlsInit(tls: TlsOptions | undefined): { tls?: BunFetchRequestInit["tls"] } {
  if (tls === undefined) return {};
  return {
    tls: {
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.cert === undefined ? {} : { cert: tls.cert }),
      ...(tls.key === undefined ? {} : { key: tls.key }),
      ...(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
      rejectUnauthorized: tls.verify ?? true,
    },
  };
}

/** Headers are read when asked for: of most answers only the bytes are. */
function toReply(response: Response, bytes: Uint8Array): Reply {
  const { status, headers } = response;
  return {
    ok: true,
    status,
    get contentType() {
      const type = headers.get("content-type") ?? "";
      return (type.split(";")[0] ?? "").trim().toLowerCase();
    },
    get afterMs() {
      return readRetryAfter(headers);
    },
    header: (name) => headers.get(name),
    bytes,
  };
}

/** Seconds or an HTTP date, the latter against the answer's own Date header: no clock of ours is needed. */
export function readRetryAfter(headers: Headers): number | null {
  const value = headers.get("retry-after")?.trim();
  if (value === undefined || value === "") return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const wait = Date.parse(value) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}

function wireTrouble(url: string, call: Call, late: boolean, error: unknown): Trouble {
  const what = `${call.method} ${url}${call.path}`;
  if (late) {
    return trouble(
      "server_error",
      `${what} gave no answer within ${(call.limitMs ?? 0) / 1000} s`,
      {
        again: "yes",
        unhealthy: true,
      },
    );
  }
  const { code, message } = error as { code?: unknown; message?: unknown };
  const why = typeof code === "string" ? code : String(message ?? error);
  return trouble("server_error", `${what} broke: ${why}`, { again: "yes", unhealthy: true });
}

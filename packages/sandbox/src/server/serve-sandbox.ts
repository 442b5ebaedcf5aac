import type { OwnedSandbox } from "../create-sandbox.ts";
import { createSandboxServer, type SandboxServerOptions } from "./sandbox-server.ts";

export type ServeSandboxOptions = SandboxServerOptions & {
  /** Default 127.0.0.1; any address that others can reach needs a token. */
  readonly hostname?: string;
  /** Default 8080, as SandboxFusion's; 0 = a free one. */
  readonly port?: number;
};

export type ServedSandbox = AsyncDisposable & { readonly url: string };

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;
/** Code, stdin and their JSON dress. */
const LARGEST_REQUEST = 64 * 1024 ** 2;

/** Listens until disposed of; runs under way are cancelled then. The sandbox stays the caller's. */
export function serveSandbox(
  sandbox: OwnedSandbox,
  options: ServeSandboxOptions = {},
): ServedSandbox {
  const { hostname = "127.0.0.1", port = 8080, token } = options;
  if (!LOOPBACK.test(hostname) && (token === undefined || token === "")) {
    throw new Error(
      `Expected a token to serve a sandbox on ${hostname}, where others can reach it; give one, or listen on 127.0.0.1`,
    );
  }
  const app = createSandboxServer(sandbox, options);
  const server = Bun.serve({
    hostname,
    port,
    fetch: app.fetch,
    idleTimeout: 0, // a run may take longer than any fixed one; the sandbox has its own clock
    maxRequestBodySize: LARGEST_REQUEST,
  });
  return {
    url: server.url.href.replace(/\/$/, ""),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/**
 * From options to a wire: the key out of the environment, headers, certificates. The key stays in memory; what is
 * written down is the variable's name.
 */
import { problem, type Answer } from "./handshake/answer.ts";
import { openHttp, type Http, type TlsOptions } from "./http.ts";
import type { SamplerOptions } from "./sampler-options.ts";
import { isVariableName } from "./variable-name.ts";

/** One per URL, or the row of a table that stops the run. */
export async function openWires(
  options: SamplerOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Http[] | { readonly refused: Answer }> {
  const key = readKey(options, env);
  if (typeof key !== "string" && key !== null) return { refused: key };
  const tls = await readTls(options);
  if ("question" in tls) return { refused: tls };
  return options.urls.map((url) => openHttp({ url, headers: headersOf(options, key), ...tls }));
}

function readKey(
  options: SamplerOptions,
  env: Readonly<Record<string, string | undefined>>,
): string | null | Answer {
  if (options.apiKeyEnv === null) return null;
  const key = env[options.apiKeyEnv];
  if (key !== undefined && key !== "") return key;
  if (!isVariableName(options.apiKeyEnv, env)) {
    const seen = "the environment variable that sampler.api_key_env names is not set";
    return problem("API key", seen, "is it the name and not the key itself? Then export it");
  }
  return problem("API key", `$${options.apiKeyEnv} is not set`, `export ${options.apiKeyEnv}=…`);
}

function headersOf(options: SamplerOptions, key: string | null): Record<string, string> {
  if (key === null) return { ...options.headers };
  const header: Record<string, string> =
    options.kind === "tinker" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
  return { ...header, ...options.headers };
}

async function readTls(options: SamplerOptions): Promise<{ readonly tls?: TlsOptions } | Answer> {
  const { tls } = options;
  if (tls === undefined) return {};
  const read = async (name: string, path: string | undefined): Promise<Record<string, string>> =>
    path === undefined ? {} : { [name]: await Bun.file(path).text() };
  try {
    const files = await Promise.all([
      read("ca", tls.caFile),
      read("cert", tls.certFile),
      read("key", tls.keyFile),
      Promise.resolve(tls.serverName === undefined ? {} : { serverName: tls.serverName }),
    ]);
    return { tls: Object.assign({ verify: tls.verify }, ...files) as TlsOptions };
  } catch (error) {
    return problem("TLS", (error as Error).message, "name files that can be read");
  }
}

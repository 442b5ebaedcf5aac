/** The handshake and the composition against a server whose every logprob is known. */
import { describe, expect, test } from "bun:test";
import { createSampler, type SamplerContext } from "../src/create-sampler.ts";
import type { SamplerOptionsInput } from "../src/sampler-options.ts";
import { CONTEXT, open } from "./support/open-client.ts";
import { NEVER } from "./support/requests.ts";
import { toyVllm, VOCAB } from "./support/toy-vllm.ts";

async function refusal(
  url: string,
  options: Partial<SamplerOptionsInput> = {},
  context: Partial<SamplerContext> = {},
): Promise<string> {
  const input: SamplerOptionsInput = { kind: "vllm", urls: [url], vocabSize: VOCAB, ...options };
  const client = await createSampler(input, { ...CONTEXT, ...context }, NEVER);
  if (client.ok) throw new Error("Expected a refusal");
  return client.line;
}

describe("the handshake measures", () => {
  for (const logprobs of ["raw", "processed"] as const) {
    test(`${logprobs} logprobs and seeds`, async () => {
      await using server = await toyVllm({ logprobs });
      await using client = await open([server]);
      expect(client.identity).toMatchObject({
        kind: "vllm",
        model: "toy",
        vocabSize: VOCAB,
        contextLength: 1024,
        logprobKind: logprobs,
        honoursSeed: true,
        versionSource: "per_token",
        weightVersion: "default",
      });
      expect(client.tables[0]!.answers.map(({ question }) => question)).toEqual([
        "reachable",
        "model",
        "context",
        "vocabulary",
        "logprobs",
        "seeds",
        "stop id",
        "ids",
      ]);
    });
  }
  test("a server that ignores seeds is called so", async () => {
    await using server = await toyVllm({ seeds: false });
    await using client = await open([server]);
    expect(client.identity).toMatchObject({ honoursSeed: false, logprobKind: "raw" });
  });
  test("a bias is told in one line with the fix", async () => {
    await using server = await toyVllm();
    const sampling = { temperature: 0.7, topP: 1, topK: null };
    await using client = await open([server], {}, { sampling });
    expect(client.warnings).toEqual([
      "Logprobs are those of T = 1 but the temperature is 0.7: the learner's ratio is biased; set temperature = 1, or start vLLM with --logprobs-mode processed_logprobs",
    ]);
  });
});

test("an adaptive limit without metrics to follow is told", async () => {
  await using server = await toyVllm();
  await using client = await open([server], { adaptive: true });
  expect(client.warnings).toEqual([
    `${server.url} has no metrics, so its limit stays at 64 requests: start vLLM with its /metrics route, or set adaptive = false`,
  ]);
  await using other = await toyVllm({ metrics: () => "vllm:num_requests_running 0.0\n" });
  await using seeing = await open([other], { adaptive: true });
  expect(seeing.warnings).toEqual([]);
});

describe("refused in one line, before any sample", () => {
  test("down", async () => {
    const server = await toyVllm();
    await server[Symbol.asyncDispose]();
    expect(await refusal(server.url)).toMatch(
      new RegExp(
        `^reachable: GET ${server.url}/v1/models broke: .*; start the vllm server or correct --url`,
      ),
    );
  });
  test("wrong model", async () => {
    await using server = await toyVllm();
    expect(await refusal(server.url, { model: "big" })).toBe(
      `model: Expected model big at ${server.url}, it serves toy; set sampler.model`,
    );
  });
  test("no key, a key that is not set, a wrong key", async () => {
    await using server = await toyVllm({ apiKey: "right" });
    expect(await refusal(server.url)).toContain(
      "answered 401: Unauthorized; name the environment variable that holds the key: sampler.api_key_env",
    );
    const options = { apiKeyEnv: "TOY_KEY" };
    expect(await refusal(server.url, options)).toBe(
      "API key: $TOY_KEY is not set; export TOY_KEY=…",
    );
    const env = { TOY_KEY: "wrong" };
    expect(await refusal(server.url, options, { env })).toContain("check the key in $TOY_KEY");
    await using client = await open([server], options, { env: { TOY_KEY: "right" } });
    expect(client.ok).toBe(true);
  });
  test("a key in the place of its variable's name, which is not shown", async () => {
    await using server = await toyVllm();
    for (const apiKeyEnv of ["sk-verysecret-123", "verysecret\nX", "1verysecret"]) {
      const error = await refusal(server.url, { apiKeyEnv }).catch(String);
      expect(error).toContain("expected the NAME of an environment variable");
      expect(error).not.toContain("verysecret");
    }
    for (const apiKeyEnv of ["hf_verysecret", "AKIAVERYSECRETVERYSECRET"]) {
      expect(await refusal(server.url, { apiKeyEnv })).toBe(
        "API key: the environment variable that sampler.api_key_env names is not set; is it the name and not the key itself? Then export it",
      );
    }
  });
  test("a certificate file that is not there", async () => {
    await using server = await toyVllm();
    const line = await refusal(server.url, { tls: { caFile: "/no/such/ca.pem" } });
    expect(line).toStartWith("TLS: ENOENT");
    expect(line).toEndWith("name files that can be read");
  });
  test("a page instead of a server", async () => {
    await using page = await toyVllm({ routes: { "GET /v1/models": "<html>hello</html>" } });
    expect(await refusal(page.url)).toContain(
      "is --url the vllm server itself, and not a page or proxy?",
    );
  });
  test("a URL with the /v1 that clients of the OpenAI API want", async () => {
    await using server = await toyVllm();
    for (const end of ["/v1", "/v1/"])
      expect(await refusal(`${server.url}${end}`)).toMatch(
        /\/v1\/v1\/models answered 404: .*; leave \/v1 out of --url$/,
      );
    const tinker = await refusal(`${server.url}/api/v1`, { kind: "tinker" });
    expect(tinker).toEndWith("; leave /api/v1 out of --url");
  });
  test("another kind of server", async () => {
    await using server = await toyVllm();
    for (const kind of ["sglang", "llamacpp", "tinker"] as const)
      expect(await refusal(server.url, { kind })).toContain(
        `; this looks like another kind of server: is it ${kind}?`,
      );
  });
  test("a context shorter than a trajectory", async () => {
    await using server = await toyVllm({ contextLength: 256 });
    expect(await refusal(server.url)).toBe(
      "context: 256 tokens, max_trajectory_tokens is 512; lower max_trajectory_tokens or give the server a longer context",
    );
  });
  test("a tokenizer that names more ids than the model has rows, or cuts another way", async () => {
    await using server = await toyVllm({ routes: { "POST /tokenize": '{"tokens":[1,2,3]}' } });
    const tokenizer = (vocabSize: number, ids: number[]) => ({
      tokenizer: { vocabSize, encode: () => ids, decode: () => "" },
    });
    expect(await refusal(server.url, {}, tokenizer(VOCAB + 1, [1]))).toBe(
      "vocabulary: the tokenizer names 17 ids, the model has 16 rows; name the tokenizer of the served model (--tokenizer)",
    );
    expect(await refusal(server.url, {}, tokenizer(VOCAB, [1, 2, 4]))).toBe(
      "tokenizer: a sample text becomes other ids at place 2: 4 here, 3 there; name the tokenizer of the served model (--tokenizer)",
    );
  });
  test("rows that nobody tells", async () => {
    await using server = await toyVllm();
    expect(await refusal(server.url, { vocabSize: null })).toContain("set sampler.vocab_size");
  });
  test("a temperature that the server would change by itself", async () => {
    await using server = await toyVllm();
    const sampling = { temperature: 0.005, topP: 1, topK: null };
    expect(await refusal(server.url, {}, { sampling })).toContain("silently raises to 0.01");
  });
  test("a server whose samples are all bad", async () => {
    await using server = await toyVllm({ fault: () => "other prompt" });
    const line = await refusal(server.url, { retry: { attempts: 1 } });
    expect(line).toStartWith(
      "first sample: invalid_tokens: Expected prompt id 3 at place 0, the server used 4",
    );
  });
  test("replicas that are not one model", async () => {
    await using a = await toyVllm();
    await using b = await toyVllm({ model: "other" });
    const input = { kind: "vllm", urls: [a.url, b.url], vocabSize: VOCAB } as const;
    const client = await createSampler(input, CONTEXT, NEVER);
    expect(client).toMatchObject({
      ok: false,
      line: expect.stringContaining("give URLs of one model") as string,
    });
  });
});

describe("a tokenizer that is still being read", () => {
  const TOY_TOKENIZER = { vocabSize: VOCAB, encode: () => [1], decode: () => "" };

  test("the server says who it is meanwhile, and samples nothing", async () => {
    await using server = await toyVllm();
    const reading = Promise.withResolvers<typeof TOY_TOKENIZER>();
    const opening = open([server], {}, { tokenizer: reading.promise });
    while (!server.control.some((call) => call.startsWith("GET /v1/models"))) await Bun.sleep(1);
    while (!server.control.some((call) => call.startsWith("GET /weight_info"))) await Bun.sleep(1);
    expect(server.received).toEqual([]);
    reading.resolve(TOY_TOKENIZER);
    await using client = await opening;
    expect(client.identity).toMatchObject({ model: "toy", logprobKind: "raw" });
    // Its ids are what the probes ask with.
    expect(server.received[0]?.token_ids).toEqual([1]);
  });
  test("that cannot be had ends the handshake with its own reason", async () => {
    await using server = await toyVllm();
    const broken = Promise.reject(new Error("no tokenizer.json"));
    const opening = open([server], {}, { tokenizer: broken });
    expect(await opening.catch(String)).toBe("Error: no tokenizer.json");
    expect(server.received).toEqual([]);
  });
  test("that cannot be had after a refusal is the caller's own matter", async () => {
    const reading = Promise.withResolvers<typeof TOY_TOKENIZER>();
    const context = { tokenizer: reading.promise };
    expect(await refusal("http://127.0.0.1:9", {}, context)).toStartWith("reachable: ");
    expect(await refusal("no URL", {}, context).catch(() => "ZodError")).toBe("ZodError");
    reading.reject(new Error("no tokenizer.json"));
    // An unhandled rejection would fail this run.
    await Bun.sleep(0);
  });
});

test("scale-out endpoints off: the table says so, with the fix", async () => {
  await using server = await toyVllm({ scaleOut: false });
  const line = await refusal(server.url, { retry: { attempts: 1 } });
  // The toy has no /v1/completions, so the first sample shows that it was asked there.
  expect(line).toContain("/v1/completions answered 404");
});

/**
 * A fake TGI 3: text in, ids out, after `router/src/{server,validation}.rs` (no real one runs here). It has no raw
 * logprobs, no abort, no versions. Past `chunk` new tokens it decodes, encodes again and goes on, silently.
 */
import { Hono } from "hono";
import { asServer, openCore, underScript, type FakeServer } from "../fake-server.ts";
import { jsonResponse } from "../wire-json.ts";
import { generate, tgiError } from "./generate.ts";
import type { FakeTgiOptions, TgiCore } from "./options.ts";

export async function createFakeTgi(options: FakeTgiOptions = {}): Promise<FakeServer> {
  const core: TgiCore = {
    ...(await openCore(options, "processed")),
    chunk: options.chunk ?? 1024,
    bos: options.bos ?? null,
    maxConcurrent: options.maxConcurrent ?? 128,
  };
  const app = new Hono();
  app.notFound(() => new Response("", { status: 404 }));
  for (const path of ["/", "/generate"]) {
    app.post(path, (c) =>
      underScript(core, c, async (body, fault, signal) => {
        // No queue: what is too much is refused at once.
        if (core.running > core.maxConcurrent) {
          return tgiError(429, "Model is overloaded", "overloaded");
        }
        return generate(core, body, fault, signal);
      }),
    );
  }
  app.post("/tokenize", (c) =>
    underScript(core, c, async (body, fault) => tokenize(core, body, fault?.type === "drift")),
  );
  for (const path of ["/health", "/ping"]) app.get(path, () => new Response(""));
  app.get("/info", () => jsonResponse(info(core)));
  app.get("/v1/models", () => {
    const card = { id: core.modelName, object: "model", created: 0, owned_by: core.modelName };
    return jsonResponse({ object: "list", data: [card] });
  });
  app.get("/metrics", () => {
    const { live, waiting } = core.model.counts();
    const text = `# TYPE tgi_batch_current_size gauge\ntgi_batch_current_size ${live}\n# TYPE tgi_queue_size gauge\ntgi_queue_size ${waiting}\n`;
    return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
  });
  return asServer(app, core);
}

/** `start` and `stop` count characters of the text. */
function tokenize(core: TgiCore, body: unknown, drifts: boolean): Response {
  const { inputs } = (body ?? {}) as { inputs?: unknown };
  if (typeof inputs !== "string") return tgiError(422, "missing field `inputs`", "validation");
  const { tokenizer } = core.model;
  const ids = [...(core.bos === null ? [] : [core.bos]), ...tokenizer.encode(inputs)];
  if (drifts) ids.push(ids[0] ?? 0);
  const whole = tokenizer.decoder([]);
  let at = 0;
  const tokens = ids.map((id) => {
    const text = whole.decode([id]);
    const start = at;
    at += text.length;
    return { id, text, start, stop: at };
  });
  return jsonResponse(tokens);
}

function info(core: TgiCore): object {
  return {
    model_id: core.modelName,
    model_sha: null,
    model_pipeline_tag: "text-generation",
    max_concurrent_requests: core.maxConcurrent,
    max_best_of: 2,
    max_stop_sequences: 4,
    max_input_tokens: core.model.context - 1,
    max_total_tokens: core.model.context,
    validation_workers: 2,
    max_client_batch_size: 4,
    router: "text-generation-router",
    version: "3.3.7",
    sha: null,
    docker_label: null,
  };
}

/**
 * A fake Tinker-compatible service: sessions, `asample`, `retrieve_future`; protobuf like Tinker's, or JSON like SkyRL's.
 * A sampling session keeps the weights it was opened with: what is in flight never straddles two versions.
 */
import { Hono } from "hono";
import { asServer, noteControl, openCore, underScript, type FakeServer } from "../fake-server.ts";
import { openFakeModel } from "../fake-model.ts";
import { jsonResponse } from "../wire-json.ts";
import type { FakeTinkerOptions, TinkerCore } from "./options.ts";
import { retrieve } from "./retrieve.ts";
import { detail, submit } from "./sample.ts";

type Body = Readonly<Record<string, unknown>>;

export async function createFakeTinker(options: FakeTinkerOptions = {}): Promise<FakeServer> {
  const core: TinkerCore = {
    ...(await openCore(options, "raw")),
    tinker: {
      protobuf: options.protobuf ?? true,
      pollMs: options.pollMs ?? 45_000,
      seeds: options.seeds ?? "each",
      apiKey: options.apiKey ?? null,
    },
    sessions: new Set(),
    sampling: new Map(),
    futures: new Map(),
    submitted: new Map(),
    heldBack: new Map(),
  };
  const app = new Hono().basePath("/api/v1");
  app.notFound(() => detail(404, "Not Found"));
  app.use(async (c, next) => {
    const { apiKey } = core.tinker;
    if (apiKey !== null && c.req.header("x-api-key") !== apiKey) {
      return detail(401, "Invalid API key");
    }
    await next();
  });
  app.get("/healthz", () => jsonResponse({ status: "ok" }));
  app.get("/get_server_capabilities", () => jsonResponse({ supported_models: [capability(core)] }));
  app.post("/create_session", async (c) => {
    await noteControl(core, c);
    const id = `session_${randomHex()}`;
    core.sessions.add(id);
    const none = { info_message: null, warning_message: null, error_message: null };
    return jsonResponse({ type: "create_session", ...none, session_id: id });
  });
  app.post("/session_heartbeat", async (c) => {
    const { session_id: id } = ((await noteControl(core, c)) ?? {}) as Body;
    if (typeof id !== "string" || !core.sessions.has(id)) return detail(404, "Session not found");
    return jsonResponse({ type: "session_heartbeat" });
  });
  app.post("/create_sampling_session", async (c) => openSampling(core, await noteControl(core, c)));
  app.get("/samplers/:id", (c) => {
    const session = core.sampling.get(c.req.param("id"));
    if (session === undefined) return detail(404, "Sampler not found");
    const { id, baseModel, modelPath } = session;
    return jsonResponse({ sampler_id: id, base_model: baseModel, model_path: modelPath });
  });
  app.post("/asample", (c) =>
    underScript(core, c, async (body, fault) => submit(core, body, fault)),
  );
  app.post("/retrieve_future", (c) =>
    underScript(core, c, (body, _fault, signal) => retrieve(core, body, signal)),
  );
  return asServer(app, core);
}

/** A path is a folder of weights, with or without `tinker://`. */
async function openSampling(core: TinkerCore, body: unknown): Promise<Response> {
  const { session_id: session, base_model: base, model_path: path } = (body ?? {}) as Body;
  if (typeof session !== "string" || !core.sessions.has(session)) {
    return detail(404, "Session not found");
  }
  const id = `sampling_${randomHex()}`;
  if (typeof path === "string") {
    try {
      const folder = path.replace(/^tinker:\/\//, "");
      const model = await openFakeModel(folder, core.options.entropy);
      core.sampling.set(id, { id, baseModel: null, modelPath: path, model });
    } catch (error) {
      return detail(404, `Model path not found: ${String(error)}`);
    }
  } else if (base === core.modelName) {
    const baseModel = core.modelName;
    core.sampling.set(id, { id, baseModel, modelPath: null, model: core.model });
  } else {
    return detail(400, `Model ${JSON.stringify(base)} is not supported`);
  }
  return jsonResponse({ type: "create_sampling_session", sampling_session_id: id });
}

/** SkyRL names no context length. */
function capability(core: TinkerCore): object {
  const { context } = core.model;
  return {
    model_name: core.modelName,
    ...(core.tinker.protobuf ? { max_context_length: context } : {}),
  };
}

function randomHex(): string {
  return crypto.randomUUID().slice(0, 8);
}

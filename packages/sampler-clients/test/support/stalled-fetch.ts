/** `bun stalled-fetch.ts plain|ours MS`: asks a server that is silent for MS, prints what came of it. */
import { openHttp, replyText } from "../../src/http.ts";

const [who, stall] = process.argv.slice(2);
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async () => {
    await Bun.sleep(Number(stall));
    return new Response("late");
  },
});
const url = `http://127.0.0.1:${server.port}`;
console.log(who === "ours" ? await ours() : await plain());
await server.stop(true);

async function ours(): Promise<string> {
  const call = { method: "POST", path: "/", body: "{}", limitMs: null } as const;
  const reply = await openHttp({ url }).send(call, new AbortController().signal);
  return reply.ok ? replyText(reply) : `failed: ${reply.detail}`;
}

async function plain(): Promise<string> {
  try {
    return await (await fetch(url, { method: "POST", body: "{}" })).text();
  } catch (error) {
    return `failed: ${(error as Error).name}`;
  }
}

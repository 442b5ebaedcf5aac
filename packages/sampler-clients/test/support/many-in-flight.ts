/** `bun many-in-flight.ts N`: N requests at a server that answers none before all are there. */
import { openHttp } from "../../src/http.ts";

const total = Number(process.argv[2]);
let arrived = 0;
let most = 0;
const { promise: all, resolve: release } = Promise.withResolvers<void>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async () => {
    arrived += 1;
    most = Math.max(most, arrived);
    if (arrived === total) release();
    await all;
    return new Response("{}");
  },
});
const http = openHttp({ url: `http://127.0.0.1:${server.port}` });
const call = { method: "POST", path: "/", body: "{}", limitMs: 50_000 } as const;
const never = new AbortController().signal;
const replies = await Promise.all(Array.from({ length: total }, () => http.send(call, never)));
console.log(`${most} in flight, ${replies.filter((reply) => reply.ok).length} answered`);
await server.stop(true);

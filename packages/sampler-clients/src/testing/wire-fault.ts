/**
 * Faults of the transport. What a Response cannot say (a reset, a cut) is written into a header that `serveFake` reads,
 * strips and carries out on the socket.
 */
import type { WireFault } from "./faults.ts";
import { wait } from "./latency.ts";

export const WIRE_HEADER = "x-fake-wire";

export type SocketAct = "reset_before_headers" | "reset_after_headers" | "cut" | "pieces";

const HTML = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>";

export async function applyWireFault(
  fault: WireFault,
  answer: () => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  switch (fault.type) {
    case "status": {
      const type = fault.contentType ?? "text/plain; charset=utf-8";
      const headers = { "content-type": type, ...fault.headers };
      return new Response(fault.body ?? "", { status: fault.status, headers });
    }
    case "html":
      return new Response(HTML, { headers: { "content-type": "text/html" } });
    case "reset":
      return act(await answer(), `reset_${fault.when}`);
    case "cut":
      return act(await answer(), "cut");
    case "pieces":
      return act(await answer(), "pieces");
    case "stall":
      await wait(fault.ms, signal);
      return answer();
  }
}

function act(response: Response, what: SocketAct): Response {
  response.headers.set(WIRE_HEADER, what);
  return response;
}

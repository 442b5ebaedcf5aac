/** A server on loopback that speaks the chat completions of a judge. In: what it says to each pair. Out: its URL. */
export type JudgedPair = { readonly reference: string; readonly predicted: string };

export type JudgeServer = {
  readonly url: string;
  readonly requests: Request[];
  readonly stop: () => Promise<void>;
};

/** `say`: the content of the answer, or a whole response. */
export function openJudgeServer(
  say: (pair: JudgedPair, request: number) => string | Response | Promise<string | Response>,
): JudgeServer {
  const requests: Request[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      requests.push(request);
      const body = (await request.json()) as {
        readonly messages: readonly { readonly content: string }[];
      };
      const pair = JSON.parse(body.messages.at(-1)?.content ?? "") as Record<string, string>;
      const said = await say(
        { reference: pair["reference_answer"] ?? "", predicted: pair["predicted_answer"] ?? "" },
        requests.length,
      );
      if (said instanceof Response) return said;
      return Response.json({ choices: [{ message: { role: "assistant", content: said } }] });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, requests, stop: () => server.stop(true) };
}

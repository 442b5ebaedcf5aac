import { describe, expect, test } from "bun:test";
import type { Judge } from "@interlace/core";
import { limitJudge, modelJudge, type ModelJudgeOptions } from "../../src/index.ts";
import { openJudgeServer } from "../support/judge-server.ts";

const { signal } = new AbortController();

async function judged(
  say: Parameters<typeof openJudgeServer>[0],
  options: Partial<ModelJudgeOptions> = {},
) {
  const server = openJudgeServer(say);
  try {
    const judge = modelJudge({ url: server.url, model: "m", waitSeconds: 0, ...options });
    const verdict = await judge.judge("1/2", "0.5", signal);
    return { verdict, requests: server.requests };
  } finally {
    await server.stop();
  }
}

describe("what it says", () => {
  test.each([
    ["EQUAL", "equal"],
    ["1/2 is 0.5.\n\nEqual.", "equal"],
    ["It is not EQUAL\n**DIFFERENT**", "different"],
  ])("%j is %s", async (content, kind) => {
    expect((await judged(() => content)).verdict).toEqual({ kind } as never);
  });

  test.each(["", "EQUAL or DIFFERENT?", "I think they are equal", "NOT EQUAL"])(
    "%j is no verdict, and so unscored",
    async (content) => {
      expect((await judged(() => content)).verdict).toMatchObject({
        kind: "unscored",
        reason: "judge_unclear",
      });
    },
  );

  test("an answer of another shape is unscored", async () => {
    for (const body of ["no JSON", "{}", '{"choices":[]}']) {
      const { verdict } = await judged(() => new Response(body));
      expect(verdict).toMatchObject({ kind: "unscored", reason: "judge_confused" });
    }
  });
});

describe("the wire", () => {
  test("a server that is busy is asked again, a bounded number of times", async () => {
    const busy = () => new Response("slow down", { status: 429 });
    const once = await judged((_, request) => (request === 1 ? busy() : "EQUAL"));
    expect(once.verdict).toEqual({ kind: "equal" });
    const always = await judged(busy, { attempts: 3 });
    expect(always.requests).toHaveLength(3);
    expect(always.verdict).toMatchObject({ kind: "unscored", reason: "judge_refused" });
    const refused = await judged(() => new Response("no such model", { status: 404 }));
    expect(refused.requests).toHaveLength(1);
    expect(refused.verdict).toMatchObject({ kind: "unscored", reason: "judge_refused" });
  });

  test("a server that is not there is unscored", async () => {
    const judge = modelJudge({
      url: "http://127.0.0.1:1",
      model: "m",
      attempts: 2,
      waitSeconds: 0,
    });
    expect(await judge.judge("1", "1", signal)).toMatchObject({ reason: "judge_unreachable" });
  });

  test("a server that does not answer is unscored when its time is over", async () => {
    const never = () => new Promise<string>(() => {});
    const { verdict } = await judged(never, { timeoutSeconds: 0.05 });
    expect(verdict).toMatchObject({ kind: "unscored", reason: "timeout" });
  });

  test("the key goes into a header, the base URL may end in /v1/", async () => {
    const server = openJudgeServer(() => "EQUAL");
    const judge = modelJudge({ url: `${server.url}/v1/`, model: "m", apiKey: "secret" });
    await judge.judge("1", "1", signal);
    const [request] = server.requests;
    expect(new URL(request?.url ?? "").pathname).toBe("/v1/chat/completions");
    expect(request?.headers.get("authorization")).toBe("Bearer secret");
    await server.stop();
  });

  test("no more pairs at once than allowed", async () => {
    let now = 0;
    let most = 0;
    const server = openJudgeServer(async () => {
      most = Math.max(most, ++now);
      await new Promise<void>((resolve) => setImmediate(resolve));
      now -= 1;
      return "EQUAL";
    });
    const judge = modelJudge({ url: server.url, model: "m", concurrency: 2 });
    const all = Array.from({ length: 12 }, () => judge.judge("1", "1", signal));
    expect((await Promise.all(all)).every(({ kind }) => kind === "equal")).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
    await server.stop();
  });

  test("an abort rejects, also while it waits", async () => {
    const server = openJudgeServer(() => new Promise<string>(() => {}));
    const judge = modelJudge({ url: server.url, model: "m", concurrency: 1 });
    const stop = new AbortController();
    const both = [judge.judge("1", "1", stop.signal), judge.judge("2", "2", stop.signal)];
    stop.abort(new Error("stop"));
    const ends = await Promise.allSettled(both);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await server.stop();
  });
});

test("a judge over its own limit is unscored, and told to stop", async () => {
  let stopped = false;
  const slow: Judge = {
    name: "slow",
    judge: (_, __, inner) => {
      inner.addEventListener("abort", () => (stopped = true));
      return new Promise(() => {});
    },
  };
  const verdict = await limitJudge(slow, 0.02).judge("1", "1", signal);
  expect(verdict).toMatchObject({ kind: "unscored", reason: "timeout" });
  expect(stopped).toBe(true);
});

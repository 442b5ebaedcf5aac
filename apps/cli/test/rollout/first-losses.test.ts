import { expect, test } from "bun:test";
import type { Member } from "@interlace/core";
import { tellFirstLosses } from "../../src/rollout/first-losses.ts";

const lost = (cause: string, detail: string): Member =>
  ({ failure: { ok: false, boundary: "sampler", cause, detail } }) as unknown as Member;

test("the first of each cause is told with its detail, what follows is only counted", () => {
  const lines: string[] = [];
  const settled = tellFirstLosses((line) => lines.push(line));
  settled({ failure: null } as unknown as Member);
  settled(lost("server_error", "ECONNREFUSED at http://a"));
  settled(lost("server_error", "ECONNREFUSED at http://b"));
  settled(lost("timeout", "after 30 s"));
  expect(lines).toEqual([
    "a trajectory is lost to sampler:server_error: ECONNREFUSED at http://a",
    "a trajectory is lost to sampler:timeout: after 30 s",
  ]);
});

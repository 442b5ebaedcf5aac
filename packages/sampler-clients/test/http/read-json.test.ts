import { describe, expect, test } from "bun:test";
import type { Reply } from "../../src/http.ts";
import { errorMessage, readJson } from "../../src/read-json.ts";

function reply(status: number, body: string, contentType = "application/json"): Reply {
  const bytes = new TextEncoder().encode(body);
  return { ok: true, status, contentType, afterMs: null, header: () => null, bytes };
}

const read = (status: number, body = "{}", type?: string) =>
  readJson(reply(status, body, type), "POST u");

describe("what may be asked again", () => {
  for (const status of [408, 425, 429]) {
    test(`${status}: it was not started`, () => {
      expect(read(status)).toMatchObject({ again: "yes", unhealthy: false });
    });
  }
  for (const status of [502, 503, 504, 520, 524, 529]) {
    test(`${status}: something in front of the engine`, () => {
      expect(read(status)).toMatchObject({ again: "yes", unhealthy: true });
    });
  }
  for (const status of [400, 401, 403, 404, 409, 413, 422]) {
    test(`${status} would repeat`, () => {
      expect(read(status)).toMatchObject({ again: "never", cause: "refused" });
    });
  }
  for (const status of [424, 500, 501, 505]) {
    test(`${status} may depend on what was sampled`, () => {
      expect(read(status)).toMatchObject({ again: "never", cause: "server_error" });
    });
  }
  test("200 with a page is a server's fault, and not asked again", () => {
    expect(read(200, "<html><body>Bad gateway</body></html>", "text/html")).toMatchObject({
      again: "never",
      cause: "server_error",
      detail:
        "POST u answered 200 with text/html that is not JSON: <html><body>Bad gateway</body></html>",
    });
  });
  test("200 with JSON that is cut is a server's fault", () => {
    expect(read(200, '{"choices":[')).toMatchObject({ again: "never", cause: "server_error" });
    expect(read(200, '{"a":NaN}')).toMatchObject({ again: "never", cause: "server_error" });
  });
});

test("the message is found in every shape that servers use", () => {
  const shapes: readonly (readonly [string, string])[] = [
    ['{"error":{"message":"a","type":"t","code":400}}', "a"],
    ['{"error":"a"}', "a"],
    ['{"object":"error","message":"a","code":400}', "a"],
    ['{"detail":"a"}', "a"],
    [
      '{"detail":[{"loc":["body","stop"],"msg":"a"},{"loc":["x"],"msg":"b"}]}',
      "body.stop: a; x: b",
    ],
    ['{"error":"a","error_type":"validation"}', "a"],
    ["Internal Server Error", "Internal Server Error"],
    ["<html>\n  <h1>502</h1>\n</html>", "<html> <h1>502</h1> </html>"],
    ["", "an empty body"],
    ["[1]", "[1]"],
  ];
  for (const [body, message] of shapes) expect(errorMessage(body)).toBe(message);
  expect(errorMessage("x".repeat(1000)).length).toBe(301);
});

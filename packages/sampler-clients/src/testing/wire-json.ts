/** JSON as servers write it: also NaN and Infinity, which are no JSON and yet arrive. */
const MARKS: readonly (readonly [number, string])[] = [
  [Number.NaN, "NaN"],
  [Infinity, "Infinity"],
  [-Infinity, "-Infinity"],
];

export function wireJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    const mark = MARKS.find(([number]) => Object.is(number, item));
    return mark === undefined ? item : `\u0000${mark[1]}\u0000`;
  });
  return text.replaceAll(/"\\u0000(NaN|-?Infinity)\\u0000"/g, "$1");
}

/** Servers compute in float32 and print it as a double. */
export function asFloat32(value: number | null): number | null {
  return value === null ? null : Math.fround(value);
}

export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const all = new Headers(headers);
  all.set("content-type", "application/json");
  return new Response(wireJson(body), { status, headers: all });
}

/**
 * What two JSON values have in common: keys in the same order and kinds of values. null goes with anything, an empty
 * array with any array. In: recorded, answered. Out: differences, one sentence each.
 */
export function shapeDifferences(recorded: unknown, answered: unknown, at = "body"): string[] {
  const [a, b] = [kindOf(recorded), kindOf(answered)];
  if (a === "null" || b === "null") return [];
  if (a !== b) return [`${at}: recorded ${a}, answered ${b}`];
  if (Array.isArray(recorded) && Array.isArray(answered)) {
    if (recorded.length === 0 || answered.length === 0) return [];
    return shapeDifferences(recorded[0], answered[0], `${at}[0]`);
  }
  if (a !== "object") return [];
  const [left, right] = [recorded as object, answered as object];
  const [names, others] = [Object.keys(left), Object.keys(right)];
  if (names.join() !== others.join()) {
    return [`${at}: recorded keys ${names.join()}, answered ${others.join()}`];
  }
  return names.flatMap((name) =>
    shapeDifferences(left[name as never], right[name as never], `${at}.${name}`),
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/**
 * What a problem's reference says of its tests. In: text of the answer's column. Out: tests, or why there are none.
 *
 *   [{"input": "2 3\n", "output": "5\n"}, …]     programs that read and print
 *   assert add(2, 3) == 5                         Python that is run behind the answer's own
 */
export type CodeTests =
  | { readonly kind: "input_output"; readonly cases: readonly InputOutput[] }
  | { readonly kind: "asserts"; readonly code: string };

export type InputOutput = { readonly input: string; readonly output: string };

/** A text: what is wrong with the reference. */
export function parseTests(reference: string): CodeTests | string {
  const text = reference.trim();
  if (text === "") return "Expected tests, got nothing";
  if (!/^[[{]/.test(text)) return { kind: "asserts", code: text };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: "asserts", code: text };
  }
  const cases = Array.isArray(json) ? json : casesOf(json);
  if (cases.length === 0) return "Expected a list of tests with input and output, got none";
  const bad = cases.findIndex((each) => !isCase(each));
  if (bad !== -1) return `Expected test ${bad + 1} to have input and output, as texts`;
  return { kind: "input_output", cases: cases.filter(isCase) };
}

/** `{"inputs": […], "outputs": […]}`, as some data sets write the same. */
function casesOf(json: unknown): readonly unknown[] {
  if (typeof json !== "object" || json === null) return [];
  const { inputs, outputs } = json as { readonly inputs?: unknown; readonly outputs?: unknown };
  if (!Array.isArray(inputs) || !Array.isArray(outputs)) return [];
  return inputs.map((input: unknown, i) => ({ input, output: outputs[i] as unknown }));
}

function isCase(value: unknown): value is InputOutput {
  if (typeof value !== "object" || value === null) return false;
  const { input, output } = value as Partial<Record<string, unknown>>;
  return typeof input === "string" && typeof output === "string";
}

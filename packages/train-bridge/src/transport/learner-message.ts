/**
 * What a learner says on the socket, one JSON object a line. In: a line. Out: a message of a closed union. Refuses
 * everything else, in words for the one who wrote the learner.
 */

/** Raised when a learner of before could no longer talk to an engine of after. */
export const TRANSPORT_VERSION = 1;

export type LearnerMessage =
  /** First of all. `firstStep`: steps that the learner's own checkpoint holds; null = what nobody acknowledged. */
  | { readonly type: "hello"; readonly firstStep: number | null }
  /** Send one more step when there is one. */
  | { readonly type: "next" }
  /** This step is trained on, and what came of it is safe. */
  | { readonly type: "acknowledge"; readonly step: number };

/** Throws on a line that is no such message, and on a hello of another version. */
export function parseLearnerMessage(line: string): LearnerMessage {
  const refuse = (expected: string): never => {
    throw new Error(`Expected ${expected}, got ${line.slice(0, 200)}`);
  };
  const value = parseObject(line);
  const isStep = (step: unknown): step is number =>
    typeof step === "number" && Number.isSafeInteger(step) && step >= 0;
  switch (value?.["type"]) {
    case "hello": {
      if (value["version"] !== TRANSPORT_VERSION) {
        return refuse(`a learner that speaks version ${TRANSPORT_VERSION} of the transport`);
      }
      const first = value["first_step"];
      if (first !== null && !isStep(first)) return refuse("first_step to be a step or null");
      return { type: "hello", firstStep: first };
    }
    case "next":
      return { type: "next" };
    case "acknowledge": {
      const step = value["step"];
      return isStep(step)
        ? { type: "acknowledge", step }
        : refuse("the step that is acknowledged, from 0");
    }
    default:
      return refuse("hello, next or acknowledge as a JSON object a line");
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

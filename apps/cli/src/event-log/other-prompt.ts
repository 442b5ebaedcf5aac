/** In: what stepping a recording threw. Out: an answer to another prompt, said to a person; all else as it was. */
import { messageOf, type PersonError } from "../person-error.ts";

/** Always throws. `say`: from what is wrong to an error with what to do. */
export function throwExplained(error: unknown, say: (reason: string) => PersonError): never {
  if (isOtherPrompt(error)) throw say(messageOf(error));
  throw error;
}

/** Core's `OtherPrompt`. */
function isOtherPrompt(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "other_prompt";
}

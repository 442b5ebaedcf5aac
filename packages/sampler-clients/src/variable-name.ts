/**
 * Names of environment variables that hold keys. A key is easily pasted where its variable's name belongs, and many a
 * key would pass for a name (`hf_…`): what is no name beyond doubt must not be quoted anywhere.
 */
import { z } from "zod";

/** Marked (`holds`), so that whoever prints settings can tell. */
export const variableNameSchema = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    "expected the NAME of an environment variable, like VLLM_API_KEY; got something else, which is not shown in case it is the key itself",
  )
  .meta({ holds: "variable_name" });

/** Capitals, and no word as long as a key's: what people call their variables. */
const USUAL = /^(?!.*[A-Z0-9]{16})[A-Z_][A-Z0-9_]*$/;

/** Whether it is a name beyond doubt, which may be quoted: it is one here, or what people call variables. */
export function isVariableName(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return USUAL.test(text) || (Object.hasOwn(env, text) && env[text] !== undefined);
}

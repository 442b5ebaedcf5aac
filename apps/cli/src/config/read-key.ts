/**
 * In: the name of an environment variable, and how what names it is called. Out: the key in it. A name that may be the
 * key itself is not repeated.
 */
import { isVariableName, variableNameSchema } from "@interlace/sampler-clients";
import { wrongUse } from "../person-error.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Throws a PersonError where it is no name, or nothing is in it. `named`: `sandbox.token_env`, `--token-env`. */
export function readKey(named: string, variable: string, env: Env = process.env): string {
  const [issue] = variableNameSchema.safeParse(variable).error?.issues ?? [];
  if (issue !== undefined) throw wrongUse(`${named}: ${issue.message}`);
  const key = env[variable];
  if (key !== undefined && key !== "") return key;
  throw wrongUse(
    isVariableName(variable, env)
      ? `${named} is ${variable}, which is not set: put the key there`
      : `${named}: the environment variable that it names is not set; is it the name and not the key itself? Then export it`,
  );
}

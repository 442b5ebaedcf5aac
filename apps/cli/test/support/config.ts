/** A configuration of defaults, with some sections' values. */
import { configSchema, type Config } from "../../src/config/schema.ts";

export function configWith(sections: Readonly<Record<string, unknown>>): Config {
  const names = Object.keys(configSchema.shape).map((name) => [name, {}]);
  return configSchema.parse({ ...Object.fromEntries(names), ...sections });
}

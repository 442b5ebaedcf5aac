/**
 * The one mapping between names in TypeScript (camelCase) and names in TOML, flags, the environment and JSON
 * (snake_case). Refuses to know which names exist.
 */

/** `maxCodeCalls` → `max_code_calls`, `topP` → `top_p`. */
export function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `["rollout", "groupSize"]` → `rollout.group_size`. */
export function toDotted(path: readonly string[]): string {
  return path.map(toSnake).join(".");
}

/** `rollout.group_size` → `INTERLACE_ROLLOUT_GROUP_SIZE`. */
export function toVariable(dotted: string): string {
  return `INTERLACE_${dotted.replaceAll(".", "_").toUpperCase()}`;
}

/**
 * In: a record and a path like `reward_model.ground_truth` or `prompt[0].content`. Out: what lies there.
 * Refuses to know: what the columns mean.
 */

/** Names and list indices, from the outside in. */
export type ColumnPath = readonly (string | number)[];

const STEP = /^(?:([^.[\]]+)|\[(\d+)\])/;

/** Throws on a path that is none: it comes from a person. */
export function parseColumnPath(path: string): ColumnPath {
  const steps: (string | number)[] = [];
  let rest = path;
  while (rest !== "") {
    const found = STEP.exec(rest);
    if (!found) throw new Error(badPath(path));
    steps.push(found[1] ?? Number(found[2]));
    rest = rest.slice(found[0].length);
    if (rest.startsWith(".") && /^\.[^.[\]]/.test(rest)) rest = rest.slice(1);
    else if (rest !== "" && !rest.startsWith("[")) throw new Error(badPath(path));
  }
  if (typeof steps[0] !== "string") throw new Error(badPath(path));
  return steps;
}

function badPath(path: string): string {
  return `Expected a column path like answer, reward_model.ground_truth or prompt[0].content, got ${JSON.stringify(path)}`;
}

/**
 * Reads one column of many records; undefined = nothing is there.
 * A column whose very name is the whole path wins (`a.b` in a CSV).
 */
export function columnReader(path: string): (record: unknown) => unknown {
  const steps = parseColumnPath(path);
  return (record) => {
    if (isRecord(record) && Object.hasOwn(record, path)) return record[path];
    let value = record;
    for (const step of steps) {
      if (typeof step === "number") value = Array.isArray(value) ? value[step] : undefined;
      else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    }
    return value;
  };
}

export function readColumn(record: unknown, path: string): unknown {
  return columnReader(path)(record);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** In: a CSV file's text. Out: what separates its columns: commas, unless only semicolons or tabs make columns of its header. */
import { parse } from "csv-parse/sync";

const OTHERS = [";", "\t"] as const;
/** Characters that hold any header. */
const HEADER = 65_536;

/** A comma in the header decides for commas: a file that they do not fit is refused with its columns. */
export function findSeparator(text: string): "," | (typeof OTHERS)[number] {
  const header = text.slice(0, HEADER);
  if (countColumns(header, ",") > 1) return ",";
  const [first, second] = OTHERS.map((separator) => countColumns(header, separator));
  return Math.max(first ?? 0, second ?? 0) < 2 ? "," : (first ?? 0) >= (second ?? 0) ? ";" : "\t";
}

/** Of the header; 0 = with this separator it cannot be read. */
function countColumns(text: string, delimiter: string): number {
  try {
    const rows: unknown = parse(text, { bom: true, delimiter, skip_empty_lines: true, to: 1 });
    const [header] = rows as readonly (readonly string[])[];
    return header?.length ?? 0;
  } catch {
    return 0;
  }
}

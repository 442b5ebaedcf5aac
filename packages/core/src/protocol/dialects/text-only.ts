/** No tool: every text is an answer. */
import { strip } from "../../tokens/python-whitespace.ts";
import type { Dialect } from "./dialect.ts";

export const textOnly: Dialect = {
  name: "text_only",
  callMarker: "",
  markerTokens: [],
  parse: (text) => ({ kind: "answer", content: strip(text) }),
};

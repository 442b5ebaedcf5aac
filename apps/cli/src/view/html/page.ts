/**
 * The page, piece by piece, so that no step has to fit into memory. It asks nothing of anyone: no script, no font, no
 * picture, and a policy that lets the browser refuse whatever else might stand in it. Switches are inputs and selectors.
 */
import { markup, toText, trusted, type Html } from "./markup.ts";
import { COLOURS, legend } from "./colours.ts";
import { KIND_MEANINGS, KINDS } from "../choice.ts";

const STYLE = await Bun.file(new URL("page.css", import.meta.url)).text();

/** Nothing but this style. */
const POLICY = `default-src 'none'; style-src 'sha256-${new Bun.CryptoHasher("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

export type PageParts = {
  readonly title: string;
  /** What logprobs mean in this run. */
  readonly logprobKind: string;
  readonly head: Html;
  readonly body: Iterable<Html>;
  readonly foot: Html;
};

const encoder = new TextEncoder();

export function* pageBytes({
  title,
  logprobKind,
  head,
  body,
  foot,
}: PageParts): Generator<readonly Uint8Array[]> {
  yield bytes(markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
${switches()}
${bar(logprobKind)}
<main>
${head}
`);
  for (const part of body) yield bytes(part);
  yield bytes(markup`${foot}
</main>
</body>
</html>
`);
}

/** Before everything that they switch: a selector looks only forwards. */
function switches(): Html {
  const colours = COLOURS.map((name) => radio("colour", `by-${name}`, name === "logprob"));
  const kinds = ["all", ...KINDS].map((name) => radio("show", `show-${name}`, name === "all"));
  return markup`${colours}${kinds}`;
}

function radio(group: string, id: string, isChosen: boolean): Html {
  return isChosen
    ? markup`<input class="switch" type="radio" name="${group}" id="${id}" checked>`
    : markup`<input class="switch" type="radio" name="${group}" id="${id}">`;
}

function bar(logprobKind: string): Html {
  const colours = COLOURS.map((name) => markup`<label for="by-${name}">${name}</label>`);
  const kinds = KINDS.map(
    (name) => markup`<label for="show-${name}" title="${KIND_MEANINGS[name]}">${name}</label>`,
  );
  return markup`<nav class="bar">
    <span class="choices">Colour ${colours}</span>
    <span class="choices">Show <label for="show-all">all</label>${kinds}</span>
    ${legend("mask", "")}${legend("logprob", `of the sampled id; logprobs are ${logprobKind}`)}${legend("advantage", "of tokens with mask 1")}
  </nav>`;
}

function bytes(part: Html): readonly Uint8Array[] {
  return [encoder.encode(toText(part))];
}

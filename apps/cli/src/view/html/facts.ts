/** Small pieces that several parts of the page are made of. */
import { markup, shownText, toText, trusted, type Html } from "./markup.ts";

export type Fact = readonly [name: string, value: string | number | Html | null];

/** Names and values in a row; a value of null is left out. */
export function facts(all: readonly Fact[]): Html {
  const items = all
    .filter(([, value]) => value !== null)
    .map(
      ([name, value]) =>
        markup`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    );
  return markup`<dl class="facts">${items}</dl>`;
}

/** A text as it was written. */
export function textBlock(text: string, name = ""): Html {
  return textBox(shownText(text), name);
}

/** Line breaks and spaces in it are seen: there is none between the tags. */
export function textBox(content: Html, name: string): Html {
  return trusted(`<div class="text ${name}" dir="auto">${toText(content)}</div>`);
}

export function fold(summary: Html | string, content: Html | readonly Html[], open = false): Html {
  return open
    ? markup`<details open>
        <summary>${summary}</summary>
        ${content}
      </details>`
    : markup`<details>
        <summary>${summary}</summary>
        ${content}
      </details>`;
}

export function notice(text: string): Html {
  return markup`<p class="notice">${shownText(text)}</p>`;
}

/** Names and numbers below each other. */
export function numberTable(rows: readonly (readonly [string, string])[]): Html {
  const lines = rows.map(
    ([name, value]) =>
      markup`<tr>
        <th scope="row">${name}</th>
        <td>${value}</td>
      </tr>`,
  );
  return markup`<table class="numbers">
    <tbody>
      ${lines}
    </tbody>
  </table>`;
}

/** Wider than a small window: it scrolls in its own box. `rows` hold their cells. */
export function wideTable(headings: readonly string[], rows: readonly Html[]): Html {
  const heads = headings.map((name) => markup`<th scope="col">${name}</th>`);
  return markup`<div class="wide">
    <table class="numbers">
      <thead>
        <tr>${heads}</tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** At most four decimals, none where there is nothing behind the point. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(4);
}

/** With its sign; null = there is none. */
export function formatSigned(value: number | null): string {
  return value === null ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(4)}`;
}

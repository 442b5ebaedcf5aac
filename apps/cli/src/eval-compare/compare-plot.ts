/**
 * In: a comparison. Out: one SVG with two panels: grouped bars of average@n and pass@n, and the format rate, each with
 * its percentage and a whisker of one standard error. Grows with the number of results, so that no label meets another.
 */
import type { Comparison, Figure } from "./compare-results.ts";
import { escapeXml, shorten, textWidth } from "../plot/svg-text.ts";

const FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";
const SIZE = { title: 17, panel: 14, text: 12, value: 11 } as const;
const INK = { text: "#222222", muted: "#666666", grid: "#dddddd" } as const;
const PLOT_HEIGHT = 300;
/** Of the axis: bars at 100% still have room for whisker and label. */
const AXIS_TOP = 1.14;
/** Widest value label, `100.0%`, and air. */
const BAR_WIDTH = 50;
const GROUP_GAP = 26;
const MIN_PANEL = 240;
const LEFT = 58;
const BETWEEN = 60;
const RIGHT = 24;
const PLOT_TOP = 108;
const MAX_LABEL = 36;
/** Labels that do not fit side by side stand at this angle. */
const SLANT = 35;

type Series = {
  readonly name: string;
  readonly colour: string;
  readonly figures: readonly Figure[];
};

export function comparePlot({ dataset, valN, problems, results }: Comparison): string {
  const labels = results.map(({ label }) => shorten(label, MAX_LABEL));
  const panels: readonly { readonly title: string; readonly series: readonly Series[] }[] = [
    {
      title: "Right answers",
      series: [
        {
          name: `average@${valN}`,
          colour: "#4477aa",
          figures: results.map(({ average }) => average),
        },
        { name: `pass@${valN}`, colour: "#ccaa33", figures: results.map(({ pass }) => pass) },
      ],
    },
    {
      title: "Valid format",
      series: [
        {
          name: "format rate",
          colour: "#448866",
          figures: results.map(({ format }) => format),
        },
      ],
    },
  ];
  const longest = Math.max(...labels.map((label) => textWidth(label, SIZE.text)));
  const widths = panels.map(({ series }) =>
    Math.max(MIN_PANEL, results.length * (series.length * BAR_WIDTH + GROUP_GAP)),
  );
  const isSlanted = widths.some((width) => longest + 10 > width / results.length);
  const slant = (SLANT * Math.PI) / 180;
  // A slanted label begins left of its group: the first one must not leave the picture or enter the other panel.
  const reach = isSlanted ? Math.max(0, longest * Math.cos(slant) - 20) : 0;
  const left = Math.max(LEFT, reach);
  const between = Math.max(BETWEEN, reach);
  const labelHeight = isSlanted ? longest * Math.sin(slant) + 22 : 26;
  const title = `${dataset}: ${problems} problems × ${valN} generations`;
  const width = Math.max(
    left + (widths[0] ?? 0) + between + (widths[1] ?? 0) + RIGHT,
    LEFT + textWidth(title, SIZE.title) + RIGHT,
  );
  const height = PLOT_TOP + PLOT_HEIGHT + labelHeight + 22;
  const parts = [
    text(LEFT, 34, title, { size: SIZE.title, weight: "bold" }),
    text(LEFT, 54, "whiskers: one standard error over problems", {
      size: SIZE.value,
      ink: INK.muted,
    }),
  ];
  let x = left;
  for (const [i, panel] of panels.entries()) {
    const own = widths[i] ?? MIN_PANEL;
    parts.push(...drawPanel(x, own, panel.title, panel.series, labels, isSlanted));
    x += own + between;
  }
  const box = `${Math.ceil(width)} ${Math.ceil(height)}`;
  const [w, h] = box.split(" ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${box}" font-family="${FONT}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${w}" height="${h}" fill="#ffffff"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function drawPanel(
  x: number,
  width: number,
  title: string,
  series: readonly Series[],
  labels: readonly string[],
  isSlanted: boolean,
): readonly string[] {
  const bottom = PLOT_TOP + PLOT_HEIGHT;
  const parts = [
    text(x, PLOT_TOP - 30, title, { size: SIZE.panel, weight: "bold" }),
    ...drawAxis(x, width, bottom),
  ];
  if (series.length > 1) parts.push(...drawLegend(x, series));
  const slot = width / labels.length;
  for (const [i, label] of labels.entries()) {
    const middle = x + slot * (i + 0.5);
    const first = middle - (series.length * BAR_WIDTH) / 2;
    for (const [j, { colour, figures }] of series.entries()) {
      const figure = figures[i];
      if (figure !== undefined)
        parts.push(...drawBar(first + j * BAR_WIDTH, bottom, figure, colour));
    }
    parts.push(
      isSlanted
        ? text(middle + 6, bottom + 18, label, { anchor: "end", turn: -SLANT })
        : text(middle, bottom + 20, label, { anchor: "middle" }),
    );
  }
  return parts;
}

function drawAxis(x: number, width: number, bottom: number): readonly string[] {
  return [0, 0.2, 0.4, 0.6, 0.8, 1].flatMap((share) => {
    const y = round(bottom - heightOf(share));
    return [
      `<line x1="${round(x)}" y1="${y}" x2="${round(x + width)}" y2="${y}" stroke="${share === 0 ? INK.text : INK.grid}"/>`,
      text(x - 8, y + 4, `${Math.round(share * 100)}%`, { anchor: "end", ink: INK.muted }),
    ];
  });
}

function drawLegend(x: number, series: readonly Series[]): readonly string[] {
  let at = x;
  return series.flatMap(({ name, colour }) => {
    const y = PLOT_TOP - 12;
    const parts = [
      `<rect x="${round(at)}" y="${y - 10}" width="11" height="11" fill="${colour}"/>`,
      text(at + 17, y, name),
    ];
    at += 17 + textWidth(name, SIZE.text) + 18;
    return parts;
  });
}

function drawBar(x: number, bottom: number, figure: Figure, colour: string): readonly string[] {
  const { value, standardError } = figure;
  const height = heightOf(value);
  const [middle, top] = [round(x + BAR_WIDTH / 2), round(bottom - height)];
  const error = standardError ?? 0;
  const high = heightOf(Math.min(1, value + error));
  const low = heightOf(Math.max(0, value - error));
  const whisker =
    error === 0
      ? []
      : [
          `<path d="M${middle} ${round(bottom - low)}V${round(bottom - high)}M${middle - 4} ${round(bottom - low)}h8M${middle - 4} ${round(bottom - high)}h8" stroke="${INK.text}" fill="none"/>`,
        ];
  return [
    `<rect x="${round(x + 2)}" y="${top}" width="${BAR_WIDTH - 4}" height="${round(height)}" fill="${colour}"/>`,
    ...whisker,
    text(middle, bottom - Math.max(height, high) - 6, `${(value * 100).toFixed(1)}%`, {
      size: SIZE.value,
      anchor: "middle",
      halo: true,
    }),
  ];
}

function heightOf(share: number): number {
  return (share / AXIS_TOP) * PLOT_HEIGHT;
}

type TextStyle = {
  readonly size?: number;
  readonly weight?: "bold";
  readonly anchor?: "middle" | "end";
  readonly ink?: string;
  /** Degrees around its own place. */
  readonly turn?: number;
  /** White around the letters, where a grid line may run through them. */
  readonly halo?: boolean;
};

function text(x: number, y: number, content: string, style: TextStyle = {}): string {
  const { size = SIZE.text, weight, anchor, ink = INK.text, turn, halo } = style;
  const place = `x="${round(x)}" y="${round(y)}"`;
  const more = [
    weight === undefined ? "" : ` font-weight="${weight}"`,
    halo === true ? ` stroke="#ffffff" stroke-width="3" paint-order="stroke"` : "",
    anchor === undefined ? "" : ` text-anchor="${anchor}"`,
    turn === undefined ? "" : ` transform="rotate(${turn} ${round(x)} ${round(y)})"`,
  ].join("");
  return `<text ${place} font-size="${size}" fill="${ink}"${more}>${escapeXml(content)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** In: an SVG. Out: a PNG of it, twice as large, the same on every machine: with its own font, never the system's. */
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

const SCALE = 2;
const FACES = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"];

const resolve = createRequire(import.meta.url).resolve;
let ready: Promise<void> | null = null;

export async function renderPng(svg: string): Promise<Uint8Array> {
  ready ??= initWasm(Bun.file(resolve("@resvg/resvg-wasm/index_bg.wasm")).arrayBuffer());
  await ready;
  const fontBuffers = await Promise.all(
    FACES.map((face) => Bun.file(resolve(`dejavu-fonts-ttf/ttf/${face}`)).bytes()),
  );
  const renderer = new Resvg(svg, {
    fitTo: { mode: "zoom", value: SCALE },
    font: { fontBuffers, defaultFontFamily: "DejaVu Sans", sansSerifFamily: "DejaVu Sans" },
  });
  const image = renderer.render();
  try {
    return image.asPng();
  } finally {
    image.free();
    renderer.free();
  }
}

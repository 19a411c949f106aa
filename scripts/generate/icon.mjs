// icon.png of a server, which hosts show in their list of extensions: a white glyph on the server's color.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

/** In pixels, as Claude Desktop recommends. */
const SIZE = 512;

const wasm = createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm");
await initWasm(await readFile(wasm));

/**
 * Draws the icon of a server.
 *
 * @param {string} svg
 * @returns {Uint8Array} a PNG
 */
export function icon(svg) {
  return new Resvg(svg, { fitTo: { mode: "width", value: SIZE } }).render().asPng();
}

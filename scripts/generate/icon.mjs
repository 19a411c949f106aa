// icon.png of a server, which hosts show in their list of extensions: a white glyph on the server's colour.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

/** In pixels, as Claude Desktop recommends. */
const SIZE = 512;

/** Lines on a grid of 24 by 24, and the colours at the top and the bottom behind them. */
const ICONS = {
  fetch: {
    colors: ["#22b8cf", "#1864ab"],
    glyph: `<circle cx="12" cy="12" r="8"/><ellipse cx="12" cy="12" rx="3.6" ry="8"/><path d="M4.6 9.2h14.8M4.6 14.8h14.8"/>`,
  },
  filesystem: {
    colors: ["#fcc419", "#e8590c"],
    glyph: `<path d="M4 7.5V17a1.5 1.5 0 0 0 1.5 1.5h13A1.5 1.5 0 0 0 20 17V9.5A1.5 1.5 0 0 0 18.5 8H12l-2-2.5H5.5A1.5 1.5 0 0 0 4 7z"/><path d="M4 11.5h16"/>`,
  },
  git: {
    colors: ["#ff8787", "#c92a2a"],
    glyph: `<circle cx="8" cy="6" r="2"/><circle cx="8" cy="18" r="2"/><circle cx="16.5" cy="8.5" r="2"/><path d="M8 8v8M16.5 10.5c0 3.2-3 3.5-5.5 3.8-1.6.2-3 .6-3 1.7"/>`,
  },
  memory: {
    colors: ["#da77f2", "#5f3dc4"],
    glyph: `<circle cx="12" cy="12" r="2.4"/><circle cx="5.8" cy="7" r="1.8"/><circle cx="18.2" cy="6.5" r="1.8"/><circle cx="6.5" cy="18" r="1.8"/><circle cx="17.8" cy="17.5" r="1.8"/><path d="M7.2 8.1l2.9 2.4M16.8 7.7l-2.9 2.7M7.8 16.7l2.4-2.9M16.5 16.2l-2.7-2.6"/>`,
  },
  playwright: {
    colors: ["#69db7c", "#2b8a3e"],
    glyph: `<rect x="3.5" y="5" width="17" height="14" rx="1.8"/><path d="M3.5 9h17M6 7h.01M8.5 7h.01M8.5 14l2.5 2.5 4.8-4.8"/>`,
  },
  postgres: {
    colors: ["#74c0fc", "#364fc7"],
    glyph: `<ellipse cx="12" cy="6.5" rx="7" ry="2.7"/><path d="M5 6.5v11c0 1.5 3.1 2.7 7 2.7s7-1.2 7-2.7v-11M5 12c0 1.5 3.1 2.7 7 2.7s7-1.2 7-2.7"/>`,
  },
  sqlite: {
    colors: ["#63e6be", "#087f5b"],
    glyph: `<path d="M6 4h8l4.5 4.5V19a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z"/><path d="M14 4v4.5h4.5"/><ellipse cx="11.7" cy="12" rx="3.2" ry="1.3"/><path d="M8.5 12v4c0 .7 1.4 1.3 3.2 1.3s3.2-.6 3.2-1.3v-4"/>`,
  },
};
/** Of a new server, until it has one of its own: a plug. */
const DEFAULT = {
  colors: ["#adb5bd", "#495057"],
  glyph: `<path d="M9 4v4.5M15 4v4.5M6.5 8.5h11V12a5.5 5.5 0 0 1-11 0zM12 17.5V20.5"/>`,
};

const wasm = createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm");
await initWasm(await readFile(wasm));

/**
 * Draws the icon of a server.
 *
 * @param {string} name
 * @returns {Uint8Array} a PNG
 */
export function icon(name) {
  const { colors, glyph } = ICONS[name] ?? DEFAULT;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256">
    <linearGradient id="back" x2="0" y2="1"><stop stop-color="${colors[0]}"/><stop offset="1" stop-color="${colors[1]}"/></linearGradient>
    <rect width="256" height="256" rx="56" fill="url(#back)"/>
    <g transform="translate(29 29) scale(8.25)" fill="none" stroke="#fff" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round">${glyph}</g>
  </svg>`;
  return new Resvg(svg, { fitTo: { mode: "width", value: SIZE } }).render().asPng();
}

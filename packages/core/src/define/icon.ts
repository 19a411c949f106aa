import type { Icon } from "./content.ts";

/** A server's icon: white lines on a 24 by 24 grid over a gradient of two colors, top to bottom. */
export interface ServerIcon {
  readonly colors: readonly [string, string];
  /** SVG elements. */
  readonly glyph: string;
}

/** The default icon: a plug. */
const DEFAULT: ServerIcon = {
  colors: ["#adb5bd", "#495057"],
  glyph: '<path d="M9 4v4.5M15 4v4.5M6.5 8.5h11V12a5.5 5.5 0 0 1-11 0zM12 17.5V20.5"/>',
};

export function serverIconSvg({ colors, glyph }: ServerIcon = DEFAULT): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256"><linearGradient id="a" x2="0" y2="1"><stop stop-color="${colors[0]}"/><stop offset="1" stop-color="${colors[1]}"/></linearGradient><rect width="256" height="256" rx="56" fill="url(#a)"/><g transform="translate(29 29) scale(8.25)" fill="none" stroke="#fff" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round">${glyph}</g></svg>`;
}

/** An SVG as an icon that needs no network. */
export function asIcon(svg: string): Icon {
  return {
    src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    mimeType: "image/svg+xml",
    sizes: ["any"],
  };
}

// docs/badges/*.svg: the badges of the README. They are drawn from the definitions, so that none of them can be out of date.
import { importSource } from "../lib/sources.mjs";
import { defaultTools, modelTokensOf, slimTools, thousands } from "./surface.mjs";

/** @typedef {{ file: string, label: string, value: string, link: string }} Badge */

/**
 * What the badges of the README say, in their order.
 *
 * @param {import("./surface.mjs").Server[]} servers
 * @returns {Promise<Badge[]>}
 */
export async function badgesOf(servers) {
  const { LEGACY_VERSIONS, MODERN_VERSIONS } = await importSource(
    "packages/core/src/protocol/revisions.ts",
  );
  const revisions = [...LEGACY_VERSIONS, ...MODERN_VERSIONS].sort();
  const tools = servers.flatMap(defaultTools);
  const node = servers[0]?.manifest.engines.node ?? "";
  const slim = thousands(modelTokensOf(servers.flatMap(slimTools)));
  return [
    {
      file: "mcp",
      label: "MCP",
      value: `${revisions.at(-1)} and ${revisions.length - 1} older`,
      link: "docs/protocol.md",
    },
    { file: "servers", label: "servers", value: String(servers.length), link: "#the-servers" },
    {
      file: "tools",
      label: "tools",
      value: `${tools.length}, ${thousands(modelTokensOf(tools))} tokens`,
      link: "#the-servers",
    },
    { file: "slim", label: "--slim", value: `${slim} tokens`, link: "#the-servers" },
    { file: "node", label: "Node.js", value: node, link: "docs/troubleshooting.md" },
    {
      file: "license",
      label: "license",
      value: servers[0]?.manifest.license ?? "",
      link: "LICENSE",
    },
  ];
}

const HEIGHT = 20;
const FONT = 11;
/** The mean width of a character of an 11 px sans serif font. */
const CHARACTER = 6.6;
const PADDING = 6;

/** @param {Badge} badge @returns {string} an SVG that needs nothing else */
export function badgePicture({ label, value }) {
  const [left, right] = [label, value].map((text) =>
    Math.round(text.length * CHARACTER + 2 * PADDING),
  );
  const width = Number(left) + Number(right);
  /** @param {string} text @param {number} x @param {number} room */
  const text = (text, x, room) =>
    `<text x="${x + room / 2}" y="14" textLength="${room - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${escaped(label)}: ${escaped(value)}">
<clipPath id="round"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="${left}" height="${HEIGHT}" fill="#4b5563"/><rect x="${left}" width="${right}" height="${HEIGHT}" fill="#1d6fb8"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="${FONT}">${text(label, 0, Number(left))}${text(value, Number(left), Number(right))}</g>
</svg>
`;
}

/** @param {string} text */
const escaped = (text) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

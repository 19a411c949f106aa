// Writes the shapes of letters for charts that the SQL servers draw, so that their packages need neither a font of
// 750 kB nor a parser for it. Run it after an update of the font.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import opentype from "opentype.js";

/** The size of the letters in the file; at 12 pixels, one unit is a twentieth of a pixel. */
const EM = 256;
/** Latin, Greek, Cyrillic, Armenian and Georgian letters, punctuation, currencies, arrows and a few signs. */
const RANGES = [
  [0x20, 0x7e],
  [0xa1, 0x17f],
  [0x18f, 0x18f],
  [0x1a0, 0x1b0],
  [0x1c4, 0x21b],
  [0x259, 0x259],
  [0x384, 0x3ce],
  [0x400, 0x45f],
  [0x490, 0x4ff],
  [0x531, 0x587],
  [0x10d0, 0x10f0],
  [0x1ea0, 0x1ef9],
  [0x2010, 0x2027],
  [0x2030, 0x203a],
  [0x20a0, 0x20bd],
  [0x2190, 0x2193],
  [0x2116, 0x2122],
  [0x2212, 0x2212],
  [0x2248, 0x2265],
  [0xfffd, 0xfffd],
];

const file = createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
const bytes = await readFile(file);
const font = opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
/** @param {number} value */
const units = (value) => Math.round((value * EM) / font.unitsPerEm);
/** @type {Record<string, string>} */
const letters = {};
for (const [first = 0, last = 0] of RANGES)
  for (let code = first; code <= last; code++) {
    const glyph = font.charToGlyph(String.fromCodePoint(code));
    if (glyph.index !== 0) letters[String.fromCodePoint(code)] = written(glyph);
  }
const target = new URL("../packages/sql/src/chart/letters.json", import.meta.url);
await writeFile(target, `${JSON.stringify(letters, null, 2)}\n`);

/**
 * The advance, and the outline in relative steps: m, l and q as in SVG; every outline is closed.
 *
 * @param {import("opentype.js").Glyph} glyph
 */
function written(glyph) {
  let text = String(units(glyph.advanceWidth ?? 0));
  let [x, y] = [0, 0];
  let [startX, startY] = [0, 0];
  for (const command of glyph.path.commands) {
    if (command.type === "Z") {
      [x, y] = [startX, startY];
      continue;
    }
    if (command.type === "C") throw new Error("Letters with cubic curves are not expected.");
    const points = command.type === "Q" ? [command.x1, command.y1] : [];
    const steps = [...points, command.x, command.y].map(
      (value, index) => units(value) - (index % 2 === 0 ? x : y),
    );
    [x, y] = [units(command.x), units(command.y)];
    if (command.type === "M") [startX, startY] = [x, y];
    if (command.type === "L" && steps.every((step) => step === 0)) continue;
    text += command.type.toLowerCase() + steps.join(" ").replaceAll(" -", "-");
  }
  return text;
}

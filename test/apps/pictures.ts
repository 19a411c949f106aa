// Compares pictures of views with those in pictures/, so that a change of what people see is seen in a review.
import { existsSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { expect } from "vitest";
import type { Look, ShownView } from "./host.ts";

const FOLDER = fileURLToPath(new URL("pictures/", import.meta.url));
/** Set to write the pictures instead of comparing them; look at them before a commit. */
const WRITES = process.env.REFMCP_PICTURES === "write";
const fonts = createRequire(import.meta.url);
const fontFace = async (name: string, file: string) => {
  const bytes = await readFile(fonts.resolve(`dejavu-fonts-ttf/ttf/${file}.ttf`));
  return `@font-face{font-family:"${name}";src:url(data:font/ttf;base64,${bytes.toString("base64")})}`;
};
const FONTS = await Promise.all([
  fontFace("Picture Sans", "DejaVuSans"),
  fontFace("Picture Mono", "DejaVuSansMono"),
]);

/**
 * The looks in which each view is shown: name, and what the host provides. Each theme and each width is in one of them.
 * Fonts do not depend on the machine.
 */
export const LOOKS = [lookOf("light", "wide"), lookOf("dark", "narrow")] as const;

function lookOf(
  theme: "light" | "dark",
  size: "wide" | "narrow",
): { readonly name: string; readonly look: Look } {
  const variables = { "--font-sans": '"Picture Sans"', "--font-mono": '"Picture Mono"' };
  const width = size === "wide" ? 720 : 360;
  return { name: `${theme}-${size}`, look: { theme, width, variables, css: FONTS.join("") } };
}

/**
 * Pictures are compared in squares of this many pixels. Smooth edges may differ between versions of the browser, which
 * changes few pixels in each; a label that is missing or different changes many in one.
 */
const SQUARE = 16;
const MAX_IN_SQUARE = 24;
/** Differences in color and brightness up to this share are the same. */
const THRESHOLD = 0.15;

type Picturable = Pick<ShownView, "view" | "page">;

/** A difference between two pictures; undefined if they look alike. */
export function differenceOf(
  actual: PNG,
  expected: PNG,
): { readonly text: string; readonly mask: PNG } | undefined {
  const { width, height } = expected;
  const mask = new PNG({ width, height });
  if (actual.width !== width || actual.height !== height)
    return {
      text: `It has ${actual.width} x ${actual.height} pixels instead of ${width} x ${height}.`,
      mask,
    };
  pixelmatch(actual.data, expected.data, mask.data, width, height, {
    threshold: THRESHOLD,
    diffMask: true,
  });
  const counts = new Map<string, number>();
  for (let at = 0; at < width * height; at++) {
    if (mask.data[at * 4 + 3] === 0) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    const square = `${Math.floor(x / SQUARE) * SQUARE}, ${Math.floor(y / SQUARE) * SQUARE}`;
    counts.set(square, (counts.get(square) ?? 0) + 1);
  }
  const places = [...counts].filter(([, count]) => count > MAX_IN_SQUARE).map(([square]) => square);
  if (places.length === 0) return undefined;
  return { text: `It differs in ${places.length} squares, the first at ${places[0]}.`, mask };
}

/** A picture of a view with fonts that have arrived, in its full height. */
async function pictureOf({ view, page }: Picturable): Promise<Buffer> {
  await view.locator(":root").evaluate(async (root) => {
    const { fonts, defaultView } = root.ownerDocument;
    await fonts.ready;
    for (const _ of [1, 2])
      await new Promise((resolve) => defaultView?.requestAnimationFrame(resolve));
  });
  const frame = page.locator("iframe[data-sized]");
  const { height = 0 } = (await frame.boundingBox()) ?? {};
  const { width } = page.viewportSize() ?? { width: 700 };
  // On the whole window, a view is as large as the window.
  const isFull = (await frame.getAttribute("data-display")) === "fullscreen";
  if (!isFull) await page.setViewportSize({ width, height: Math.max(600, Math.ceil(height) + 40) });
  return frame.screenshot({ animations: "disabled", caret: "hide" });
}

const fileOf = (name: string) => join(FOLDER, `${name}.png`);

/** How a view differs from `pictures/NAME.png`; undefined if it looks like it. */
export async function differsFromPicture(
  shown: Picturable,
  name: string,
): Promise<string | undefined> {
  const actual = PNG.sync.read(await pictureOf(shown));
  return differenceOf(actual, PNG.sync.read(await readFile(fileOf(name))))?.text;
}

/**
 * Checks that a view looks as in `pictures/NAME.png`. Letters are drawn alike on every Linux; elsewhere the picture is
 * taken, but not compared.
 *
 * @throws if it looks different; the message names the files with the picture and the differences
 */
export async function expectPicture(shown: Picturable, name: string): Promise<void> {
  const bytes = await pictureOf(shown);
  const file = fileOf(name);
  if (WRITES) return writeFile(file, bytes);
  expect(existsSync(file), `${name}.png is missing; REFMCP_PICTURES=write writes it.`).toBe(true);
  if (process.platform !== "linux") return;
  const difference = differenceOf(PNG.sync.read(bytes), PNG.sync.read(await readFile(file)));
  if (difference === undefined) return;
  const folder = await mkdtemp(join(tmpdir(), `refmcp-picture-${name}-`));
  await writeFile(join(folder, "actual.png"), bytes);
  await writeFile(join(folder, "difference.png"), PNG.sync.write(difference.mask));
  expect.fail(
    `${name} looks different. ${difference.text} See ${folder}; REFMCP_PICTURES=write accepts the change.`,
  );
}

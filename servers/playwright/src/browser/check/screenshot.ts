import { ToolError } from "@refmcp/boundary/answer";
import type { Locator, Page } from "playwright";
import { type Box, pictureDifference } from "../compare/picture.ts";
import { masksOn, secretsOn, whereShown } from "../secrets/guard.ts";
import type { Deadline } from "../session/deadline.ts";

/** Maximum height of a screenshot: the browser would need gigabytes for more. */
export const MAX_HEIGHT = 16_000;
const MAX_FRAMES = 6;

export interface Shot {
  readonly fullPage?: boolean;
  readonly of?: Locator | undefined;
  readonly masks?: readonly Locator[];
  /** With animations finished, for comparison. */
  readonly still?: boolean;
}

/** A screenshot of the page or of an element; `cut` if the page is too high. */
export async function takeScreenshot(
  page: Page,
  shot: Shot,
  deadline: Deadline,
): Promise<{ png: Buffer; cut: boolean }> {
  if (secretsOn(page) === undefined) return capture(page, shot, deadline);
  // A mask stays where its element was when the picture began.
  const at = async () => JSON.stringify(await deadline.race(whereShown(page)));
  const masked = { ...shot, masks: [...(shot.masks ?? []), ...masksOn(page)] };
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await at();
    if (before.includes("isEverywhere")) break;
    const isShown = before.includes("{");
    const taken = await capture(
      page,
      isShown ? { ...masked, still: true, style: FLAT } : masked,
      deadline,
    );
    // Twice, because what moves in a circle can be back at the same place.
    if ((await at()) === before && (await at()) === before) return taken;
  }
  return capture(page, { ...shot, style: BLANK }, deadline);
}

const MAX_TRIES = 3;
/** No text is drawn outside its box. */
const FLAT =
  "*, *::before, *::after { text-shadow: none !important; -webkit-box-reflect: none !important; filter: none !important }";
/** What shows a secret keeps moving, or is larger than the page. */
const BLANK = "*, *::before, *::after { visibility: hidden !important; opacity: 0 !important }";

async function capture(
  page: Page,
  { fullPage = false, of, masks = [], still = false, style }: Shot & { readonly style?: string },
  deadline: Deadline,
): Promise<{ png: Buffer; cut: boolean }> {
  const timeout = Math.max(1, Math.min(10_000, deadline.leftMs));
  const animations = still ? ("disabled" as const) : ("allow" as const);
  const options = {
    ...{ animations, scale: "css" as const, mask: [...masks], timeout },
    ...(style === undefined ? {} : { style }),
  };
  if (of !== undefined) {
    const box = await deadline.race(of.boundingBox({ timeout }));
    const cut = box !== null && (box.height > MAX_HEIGHT || box.width > MAX_HEIGHT);
    if (cut) {
      const size = `${Math.round(box.width)}x${Math.round(box.height)}`;
      throw new ToolError(
        "too_large",
        `The element is ${size} px; the limit is ${MAX_HEIGHT} px each way.`,
      );
    }
    return { png: await deadline.race(of.screenshot(options)), cut };
  }
  if (!fullPage) return { png: await deadline.race(page.screenshot(options)), cut: false };
  const size = await deadline.race(
    page.evaluate(() => ({
      width: Math.max(document.documentElement.scrollWidth, window.innerWidth),
      height: Math.max(document.documentElement.scrollHeight, window.innerHeight),
    })),
  );
  const cut = size.height > MAX_HEIGHT || size.width > MAX_HEIGHT;
  const clip = {
    x: 0,
    y: 0,
    width: Math.min(size.width, MAX_HEIGHT),
    height: Math.min(size.height, MAX_HEIGHT),
  };
  const area = cut ? { clip } : {};
  return {
    png: await deadline.race(page.screenshot({ ...options, fullPage: true, ...area })),
    cut,
  };
}

/**
 * Takes pictures until two in a row are equal.
 *
 * @returns the last one, and the parts of it that kept changing.
 */
export async function stillPicture(
  shot: () => Promise<Buffer>,
): Promise<{ png: Buffer; moving: Box[] }> {
  const moving: Box[] = [];
  let png = await shot();
  for (let i = 1; i < MAX_FRAMES; i++) {
    const next = await shot();
    const { regions } = await pictureDifference(png, next);
    png = next;
    if (regions.length === 0) return { png, moving: [] };
    moving.push(...regions.map(({ box }) => box));
  }
  return { png, moving };
}

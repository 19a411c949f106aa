import { clip, oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import { measured, violationsOf } from "../check/quality.ts";
import { stillPicture, takeScreenshot } from "../check/screenshot.ts";
import { boxedLine } from "../library.ts";
import { guardDocuments } from "../secrets/guard.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import type { Deadline } from "../session/deadline.ts";
import { isFailed, type PageEvents } from "../session/page-events.ts";
import { titleOf } from "../session/page-session.ts";
import { type Box, pictureDifference } from "./picture.ts";

/** The page that was captured, for finding it again. */
export interface CaptureOf {
  /** Relative to the URL of the comparison. */
  readonly path: string;
  readonly device: string;
  readonly steps: readonly string[];
}

/** An element of the accessibility tree and where it is on the page. */
export interface Place {
  readonly name: string;
  readonly box: Box;
  /** Whether no other element of the tree is inside. */
  readonly isLeaf: boolean;
}

/** All of a loaded page that pw_compare compares, except its picture. */
export interface Capture extends CaptureOf {
  readonly url: string;
  readonly title: string;
  readonly status: number | undefined;
  /** The lines of Playwright's ARIA snapshot. */
  readonly tree: readonly string[];
  readonly places: readonly Place[];
  /** Console errors, uncaught errors and failed requests. */
  readonly problems: readonly string[];
  /** Rule, severity and element of each accessibility violation. */
  readonly violations: readonly string[];
  /** Times in milliseconds, the layout shift, bytes and requests, where the browser measured them. */
  readonly measured: Readonly<Record<string, number>>;
  /** The parts of the picture that kept changing. */
  readonly moving: readonly Box[];
  /** Whether the page is higher than its picture. */
  readonly isCut: boolean;
}

const MAX_LINES = 5_000;
const MAX_LINE_CHARS = 300;
const MAX_FRAMES = 10;
const MAX_SCREENS = 10;
/** Ids that a script or framework generates: they differ at each load. */
const GENERATED = /\d{5,}|(?=[0-9a-f]*\d)[0-9a-f]{8,}|\\:r[0-9a-z]+\\:/gi;

interface Capturing {
  readonly secrets: SecretsInRun;
  readonly page: Page;
  readonly events: PageEvents;
  readonly deadline: Deadline;
}

/**
 * Captures a page at full height, once it has settled: animations finished, carets hidden.
 *
 * @param settle waits until the page is quiet, after its lower part was scrolled into view, which loads lazy images.
 */
export async function capture(
  { page, events, deadline, secrets }: Capturing,
  of: CaptureOf,
  settle: () => Promise<unknown>,
): Promise<{ capture: Capture; png: Buffer }> {
  const timeout = Math.max(1, Math.min(10_000, deadline.leftMs));
  await deadline.race(page.evaluate(scrollThrough, MAX_SCREENS));
  await settle();
  let isCut = false;
  const shot = async () => {
    const { png, cut } = await takeScreenshot(page, { fullPage: true, still: true }, deadline);
    isCut = cut;
    return png;
  };
  const first = await shot();
  await deadline.race(guardDocuments(page));
  const { origin } = new URL(page.url());
  const local = (text: string) => localText(text, origin);
  const tree = await deadline.race(page.ariaSnapshot({ timeout }));
  const scrolled = await deadline.race(
    page.evaluate(() => ({ x: window.scrollX, y: window.scrollY })),
  );
  const places = placesIn(
    await deadline.race(page.ariaSnapshot({ mode: "ai", boxes: true, timeout })),
    scrolled,
  );
  const inFrames: string[] = [];
  for (const frame of page.frames().slice(1, MAX_FRAMES + 1)) {
    const reading = frame.locator(":root").ariaSnapshot({ timeout: Math.min(timeout, 1_000) });
    const lines = await deadline.race(reading.catch(() => ""));
    if (lines !== "")
      inFrames.push("- in a frame:", ...lines.split("\n").map((line) => `  ${line}`));
  }
  const violations = await deadline.race(violationsOf(page));
  // Some time later: what blinks slowly looks still in two frames in a row.
  const { regions: late } = await pictureDifference(first, await shot());
  const { png, moving } = late.length === 0 ? { png: first, moving: [] } : await stillPicture(shot);
  const weight = { weight: await deadline.race(events.weight()), requests: events.counts.requests };
  return {
    png,
    capture: {
      ...of,
      url: local(page.url()),
      title: await titleOf({ page, deadline, secrets }),
      status: events.place.response?.status(),
      tree: [...tree.split("\n"), ...inFrames]
        .slice(0, MAX_LINES)
        .map((line) => short(local(line))),
      places,
      problems: problemsOf(events).map((line) => short(local(line))),
      violations: violations.flatMap(({ id, impact, elements }) =>
        elements.map((element) => short(`${id} (${impact}) at ${element.replace(GENERATED, "*")}`)),
      ),
      measured: { ...(await deadline.race(measured(page))), ...weight },
      moving: [...moving, ...late.map(({ box }) => box)],
      isCut,
    },
  };
}

const short = (text: string) => {
  const line = text.trimEnd();
  const indent = line.slice(0, line.length - line.trimStart().length);
  return indent + oneLine(clip(line.trimStart(), MAX_LINE_CHARS));
};

/** A text without what two deployments of one page differ in: their origin, and hashes in names of files. */
export function localText(text: string, origin: string): string {
  return text
    .replaceAll(origin, "")
    .replace(
      /([./-])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?=\.(?:m?js|css|map|png|jpe?g|svg|webp|woff2?)\b)/gi,
      "$1*",
    );
}

function problemsOf(events: PageEvents): string[] {
  const logged = events.console
    .filter(({ level, text }) => level === "error" && !/^Failed to load resource:/.test(text))
    .map(({ text }) => `console error: ${text}`);
  const thrown = events.pageErrors.map((text) => `uncaught error: ${text.replace(/ at .*$/s, "")}`);
  const failed = events.requests
    .filter(isFailed)
    .map(
      ({ method, url, status, failure }) =>
        `failed request: ${method} ${url} (${failure ?? status})`,
    );
  return [...thrown, ...logged, ...failed];
}

/** The elements of a snapshot with boxes; frames are left out, since their boxes are relative to the frame. */
function placesIn(snapshot: string, scrolled: { readonly x: number; readonly y: number }): Place[] {
  const found = snapshot.split("\n").slice(0, MAX_LINES).map(boxedLine);
  return found.flatMap(({ name, box, depth, isInFrame }, index) => {
    if (box === undefined || isInFrame || box.width === 0 || box.height === 0) return [];
    const next = found.slice(index + 1).find((one) => one.box !== undefined);
    const isLeaf = next === undefined || next.depth <= depth;
    const { x, y } = box;
    return [
      {
        name: oneLine(clip(name, 80)),
        box: { ...box, x: x + scrolled.x, y: y + scrolled.y },
        isLeaf,
      },
    ];
  });
}

/** Runs in the page: shows each part of it once. */
async function scrollThrough(maxScreens: number): Promise<void> {
  const { scrollX: left, scrollY: top, innerHeight: step } = window;
  const end = Math.min(document.documentElement.scrollHeight, maxScreens * step);
  if (end <= step) return;
  for (let y = 0; y < end; y += step) {
    window.scrollTo({ left, top: y, behavior: "instant" });
    await new Promise((done) => setTimeout(done, 20));
  }
  window.scrollTo({ left, top, behavior: "instant" });
}

import { clip, oneLine } from "@refmcp/boundary/answer";
import { violationsOf } from "../check/quality.ts";
import { takeScreenshot } from "../page/artifacts.ts";
import { isFailed } from "../page/events.ts";
import type { PageSession } from "../page/session.ts";

/** What is compared of a loaded page: its lines and its picture. */
export interface Capture {
  /** Its facts, Playwright's ARIA snapshot of it and of its frames, and what is wrong with it. */
  readonly lines: readonly string[];
  readonly png: Buffer;
}

const MAX_LINES = 5_000;
const MAX_LINE_CHARS = 300;
const MAX_FRAMES = 10;
const MAX_SCREENS = 10;
/** Ids that a script or framework generates: they differ at each load. */
const GENERATED = /\d{5,}|(?=[0-9a-f]*\d)[0-9a-f]{8,}|\\:r[0-9a-z]+\\:/gi;

/** Captures a page at full height, once it has settled: animations finished, carets hidden. */
export async function capture(session: PageSession): Promise<Capture> {
  const { page, deadline, secrets, settling } = session;
  await deadline.race(page.evaluate(scrollThrough, MAX_SCREENS));
  await settling.settled(deadline);
  const { png, cut } = await takeScreenshot(page, { fullPage: true, still: true }, session);
  const lines = [
    ...(await linesOf(session)),
    ...(cut ? ["the page is too high for a picture of all of it"] : []),
  ];
  return { png, lines: lines.slice(0, MAX_LINES).map((line) => short(secrets.all.redact(line))) };
}

async function linesOf({ page, events, deadline, secrets }: PageSession): Promise<string[]> {
  const timeout = Math.max(1, Math.min(10_000, deadline.leftMs));
  const inFrames: string[] = [];
  for (const frame of page.frames().slice(1, MAX_FRAMES + 1)) {
    const reading = frame.locator(":root").ariaSnapshot({ timeout: Math.min(timeout, 1_000) });
    const tree = await deadline.race(reading.catch(() => ""));
    if (tree !== "") inFrames.push("- in a frame:", ...tree.split("\n").map((line) => `  ${line}`));
  }
  const violations = await deadline.race(violationsOf(page, secrets.all.redact));
  const errors = events.console.filter(
    ({ level, text }) => level === "error" && !text.startsWith("Failed to load resource:"),
  );
  const lines = [
    `status: ${events.place.response?.status() ?? "none"}`,
    `title: ${await deadline.race(page.title())}`,
    `url: ${page.url()}`,
    `requests: ${events.counts.requests}`,
    ...(await deadline.race(page.ariaSnapshot({ timeout }))).split("\n"),
    ...inFrames,
    ...events.pageErrors.map((text) => `uncaught error: ${text.replace(/ at .*$/s, "")}`),
    ...errors.map(({ text }) => `console error: ${text}`),
    ...events.requests
      .filter(isFailed)
      .map((req) => `failed request: ${req.method} ${req.url} (${req.failure ?? req.status})`),
    ...violations.flatMap(({ id, impact, elements }) =>
      elements.map((css) => `a11y violation: ${id} (${impact}) at ${css.replace(GENERATED, "*")}`),
    ),
  ];
  const { origin } = new URL(page.url());
  return lines.map((line) => localText(line, origin));
}

const short = (text: string) => {
  const line = text.trimEnd();
  const indent = line.slice(0, line.length - line.trimStart().length);
  return indent + oneLine(clip(line.trimStart(), MAX_LINE_CHARS));
};

/** A text without what two deployments of one page differ in: their origin, and hashes in names of files. */
function localText(text: string, origin: string): string {
  return text
    .replaceAll(origin, "")
    .replace(
      /([./-])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?=\.(?:m?js|css|map|png|jpe?g|svg|webp|woff2?)\b)/gi,
      "$1*",
    );
}

/** Runs in the page: shows each part of it once, which loads lazy images. */
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

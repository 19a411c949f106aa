import { oneLine } from "@refmcp/boundary/answer";
import type { Locator, Page } from "playwright";
import type { Deadline } from "../deadline.ts";
import { parseStep } from "../language/parse.ts";
import { sentenceFor, snapshotLine } from "../library.ts";
import { quoted } from "../text.ts";
import type { PageEvents } from "./events.ts";
import { targetOn } from "./locate.ts";

/** A page's content, and the targets for sentences. */
export interface Seen {
  /** Playwright's ARIA snapshot for models; `→` adds the target if it is not obvious from the line. */
  readonly snapshot: string;
  readonly targets: string[];
  readonly not_shown?: number | undefined;
  readonly lines_left_out?: number | undefined;
  readonly console: string[];
}

/** Roles for which targets are offered. */
export const TARGETED = new Set(
  (
    "button link textbox searchbox checkbox radio combobox listbox switch slider spinbutton tab " +
    "menuitem menuitemcheckbox menuitemradio option treeitem img alert status dialog heading"
  ).split(" "),
);
const MAX_SNAPSHOT_CHARS = 1_000_000;
const MAX_LINE_CHARS = 300;

/** Limits of a snapshot: maximum targets, and characters of snapshot and targets together. */
export interface Look {
  readonly limit: number;
  readonly budget: number;
}

export async function snapshotOf(
  { page, events, deadline }: { page: Page; events: PageEvents; deadline: Deadline },
  { limit, budget }: Look,
): Promise<Seen> {
  const timeout = Math.max(1, Math.min(10_000, deadline.leftMs));
  const whole = await deadline.race(page.ariaSnapshot({ mode: "ai", timeout }));
  const lines = whole.slice(0, MAX_SNAPSHOT_CHARS).split("\n");
  const shownLines: string[] = [];
  const candidates: { line: number; ref: string; plain: string; name: string | undefined }[] = [];
  let chars = 0;
  let total = 0;
  for (const text of lines) {
    const { line: clean, ref, role, name } = snapshotLine(text);
    const line =
      clean.length > MAX_LINE_CHARS ? `${clean.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : clean;
    chars += JSON.stringify(line).length;
    const isShown = chars <= budget * 0.7;
    if (ref !== undefined && TARGETED.has(role)) {
      total += 1;
      const plain = name === undefined ? role : `${role} ${quoted(name)}`;
      if (isShown) candidates.push({ line: shownLines.length, ref, plain, name });
    }
    if (isShown) shownLines.push(line);
  }
  chars = JSON.stringify(shownLines).length;
  const targets: string[] = [];
  const first = candidates.slice(0, limit);
  const targeting = first.map(({ ref, ...line }) => targetFor(page, page.getByRef(ref), line));
  for (const [index, target] of (await deadline.race(Promise.all(targeting))).entries()) {
    const at = first[index];
    chars += JSON.stringify(target ?? "").length + 1;
    if (target === undefined || at === undefined || chars > budget) continue;
    targets.push(target);
    if (target !== at.plain) shownLines[at.line] += ` → ${target}`;
  }
  const notShown = total - targets.length;
  const leftOut = lines.length - shownLines.length;
  return {
    snapshot: shownLines.join("\n"),
    targets,
    not_shown: notShown === 0 ? undefined : notShown,
    lines_left_out: leftOut === 0 ? undefined : leftOut,
    console: events.problems(),
  };
}

/** A target that matches exactly this element: its role and name if they do; undefined if there is none. */
async function targetFor(
  page: Page,
  element: Locator,
  { plain, name }: { readonly plain: string; readonly name: string | undefined },
): Promise<string | undefined> {
  try {
    if (name !== undefined && (await isOne(page, plain))) return plain;
    const sentence = await sentenceFor(element);
    return sentence !== undefined && (await isOne(page, sentence)) ? sentence : undefined;
  } catch {
    // It disappeared, or its name cannot be written in a sentence.
    return undefined;
  }
}

/** Whether a target, as a sentence has it, matches one element. */
async function isOne(page: Page, sentence: string): Promise<boolean> {
  if (sentence !== oneLine(sentence)) return false;
  const { action } = parseStep(`hover ${sentence}`);
  return action.kind === "hover" && (await targetOn(page, action.target).count()) === 1;
}

import { oneLine } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import { parseStep } from "../language/step.ts";
import type { Deadline } from "./deadline.ts";
import { guardDocuments } from "./guard.ts";
import { targetOn } from "./locate.ts";
import type { PageRecord } from "./record.ts";
import { sentenceOf } from "./strict.ts";

/** A page's content, and the targets for sentences. */
export interface Seen {
  /** Playwright's ARIA snapshot for models; `→` adds the target if it is not obvious from the line. */
  readonly snapshot: string;
  /** In snapshot order; each matches one element. */
  readonly targets: string[];
  readonly not_shown?: number;
  /** Number of lines omitted at the end of the snapshot. */
  readonly lines_left_out?: number;
  readonly console: string[];
}

/** Roles for which targets are offered. */
const TARGETED = new Set(
  (
    "button link textbox searchbox checkbox radio combobox listbox switch slider spinbutton tab " +
    "menuitem menuitemcheckbox menuitemradio option treeitem img alert status dialog heading"
  ).split(" "),
);
const MAX_SNAPSHOT_CHARS = 1_000_000;
const MAX_LINE_CHARS = 300;
/** Maximum concurrent target look-ups. */
const TOGETHER = 20;

/**
 * Takes a snapshot of the current tab.
 *
 * @param limit maximum targets.
 * @param budget maximum characters of snapshot and targets together.
 */
export async function snapshotOf(
  record: PageRecord,
  deadline: Deadline,
  limit: number,
  budget: number,
): Promise<Seen> {
  const { page } = record;
  const timeout = Math.max(1, Math.min(10_000, deadline.leftMs));
  await deadline.race(guardDocuments(page));
  const whole = await deadline.race(page.ariaSnapshot({ mode: "ai", timeout }));
  const lines = whole.slice(0, MAX_SNAPSHOT_CHARS).split("\n");
  const shownLines: string[] = [];
  const wanted: { line: number; ref: string; plain: string }[] = [];
  let chars = 0;
  let found = 0;
  for (const text of lines) {
    const ref = /\[ref=((?:f\d+)?e\d+)\]/.exec(text)?.[1];
    const [, role = "", json] = /^\s*- '?([a-z]+)(?: ("(?:[^"\\]|\\.)*"))?/.exec(text) ?? [];
    const clean = oneLine(text.replace(/ \[(?:ref=\w+|cursor=pointer|active)\]/g, ""));
    const line = clean.length > MAX_LINE_CHARS ? `${clean.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : clean;
    chars += JSON.stringify(line).length;
    const isShown = chars <= budget * 0.7;
    if (ref !== undefined && TARGETED.has(role)) {
      found += 1;
      if (!isShown) continue;
      const plain = json === undefined ? role : `${role} '${json.slice(1, -1)}'`;
      wanted.push({ line: shownLines.length, ref, plain });
    }
    if (isShown) shownLines.push(line);
  }
  chars = JSON.stringify(shownLines).length;
  const targets: string[] = [];
  const taken = wanted.slice(0, limit);
  for (let from = 0; from < taken.length; from += TOGETHER) {
    const part = taken.slice(from, from + TOGETHER);
    const names = await deadline.race(Promise.all(part.map(({ ref }) => targetFor(page, ref))));
    for (const [index, target] of names.entries()) {
      const at = part[index];
      if (target === undefined || at === undefined) continue;
      chars += JSON.stringify(target).length + 1;
      if (chars > budget) break;
      targets.push(target);
      if (target !== at.plain) shownLines[at.line] += ` → ${target}`;
    }
  }
  const notShown = found - targets.length;
  const leftOut = lines.length - shownLines.length;
  return {
    snapshot: shownLines.join("\n"),
    targets,
    ...(notShown === 0 ? {} : { not_shown: notShown }),
    ...(leftOut === 0 ? {} : { lines_left_out: leftOut }),
    console: record.problems(),
  };
}

/** A target that matches exactly this element; undefined if there is none. */
async function targetFor(page: Page, ref: string): Promise<string | undefined> {
  const element = page.getByRef(ref);
  try {
    const sentence = sentenceOf((await element.normalize()).toString());
    if (sentence === undefined || sentence !== oneLine(sentence)) return undefined;
    const { action } = parseStep(`hover ${sentence}`);
    if (action.kind !== "hover") return undefined;
    const count = await targetOn(page, action.target).count();
    return count === 1 ? sentence : undefined;
  } catch {
    // It disappeared, or its name cannot be written in a sentence.
    return undefined;
  }
}

import { basename, dirname, join, relative } from "node:path";
import { grouped, sized } from "@refmcp/boundary/answer";
import { counted, named } from "../errors.ts";
import type { Files } from "../files.ts";
import type { Pair } from "./pattern.ts";
import type { Deletion, Plan } from "./plan.ts";
import { describe, entriesOf } from "./state.ts";
import type { Outcome } from "./step.ts";
import type { Receipt } from "./store.ts";

/** Characters for the lines of a preview, and of the answer after the change. */
const PREVIEW_CHARS = 6_000;
const DONE_CHARS = 1_500;
const MAX_NAMED = 20;

/** What running a plan returned. */
interface Done {
  readonly receipt: Receipt | undefined;
  readonly outcomes: readonly Outcome[];
}

/** The sentences about the record of a change; none if nothing was changed. */
export function receiptText(receipt: Receipt | undefined): string[] {
  if (receipt === undefined) return [];
  const { changeId, final, note } = receipt;
  const change = changeId === undefined ? [] : [`Change ${changeId}.`];
  const undo = final === undefined ? change : [`Cannot be undone: ${final}.`];
  return note === undefined ? undo : [...undo, note];
}

/** One line: what was done, then what was recorded. */
export function changeAnswer(done: string, receipt: Receipt | undefined): string {
  return [done, ...receiptText(receipt)].join(" ");
}

/** Some paths, and how many more there are. */
export function namedList(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED;
  const rest = more > 0 ? ` and ${grouped(more)} more` : "";
  return paths.slice(0, MAX_NAMED).map(named).join(", ") + rest;
}

/**
 * Asks the user before something is lost permanently, because nothing is kept.
 *
 * @param loss.what exactly, after the path: ` (3 B)`
 */
export async function confirmLoss(
  { store }: Files,
  call: { confirm(question: string, action?: string): Promise<void> },
  loss: { verb: string; path: string; count: number; what: string },
): Promise<void> {
  if (store.keeps || loss.count === 0) return;
  const { verb, path, count, what } = loss;
  const others = count === 1 ? "" : ` and ${grouped(count - 1)} more`;
  const question = `${verb} ${named(path)}${others}${what}? It will be permanently lost: nothing is kept (--journal-days 0).`;
  const action = `${verb} ${count === 1 ? named(basename(path)) : `${grouped(count)} files`}`;
  await call.confirm(question, action);
}

/** `a directory with 2 files (3 B)`, `1 file (3 B)`, `3 files (12 B), 1 directory`. */
export function deletionText(deletions: readonly Deletion[]): string {
  const [first] = deletions;
  if (first === undefined) return "nothing";
  if (deletions.length === 1 && first.content !== undefined)
    return entriesOf(first.content) === 0
      ? "an empty directory"
      : `a directory with ${describe(first.content)}`;
  if (deletions.length === 1)
    return first.type === "link" ? "a link" : `1 file (${sized(first.bytes)})`;
  const count = (type: Deletion["type"]) => deletions.filter((one) => one.type === type).length;
  const bytes = deletions.reduce((sum, one) => sum + one.bytes, 0);
  return describe({
    files: count("file"),
    directories: count("directory"),
    links: count("link"),
    others: 0,
    bytes,
  });
}

/** What a plan of moves or copies does or, with `done`, what it did. */
export function planAnswer(plan: Plan, done?: Done): string {
  const [only] = plan.files;
  const isOne = plan.files.length === 1 && plan.parents.length === 0;
  if (done !== undefined && only !== undefined && isOne) return oneAnswer(plan, only, done);
  const { subject, files, parents, unchanged, replaced } = plan;
  const base = commonDirectory(files.flatMap(({ from, to }) => [dirname(from), dirname(to)]));
  const lines = foldedLines(files, base);
  const shown: string[] = [];
  let remaining = done === undefined ? PREVIEW_CHARS : DONE_CHARS;
  for (const line of lines) {
    remaining -= line.length + 1;
    if (remaining < 0) break;
    shown.push(line);
  }
  const hidden = lines.length - shown.length;
  const [would, did] =
    subject.action === "move" ? ["Would move", "Moved"] : ["Would copy", "Copied"];
  const directories = new Set(files.map(({ to }) => dirname(to))).size;
  const areFiles = files.every(({ stat }) => stat?.isDirectory() !== true);
  const items = areFiles
    ? counted(files.length, "file")
    : counted(files.length, "entry", "entries");
  const into = `${items} into ${counted(directories, "directory", "directories")}`;
  const copies = done?.outcomes.filter(({ content }) => content !== undefined) ?? [];
  const skipped = files.flatMap(({ from }, index) =>
    (copies[index]?.skipped ?? []).map((path) => join(from, path)),
  );
  const facts = [
    `${done === undefined ? would : did} ${into}${parents.length === 0 ? "" : ` (${grouped(parents.length)} created)`}.`,
    ...(unchanged === 0 ? [] : [`${counted(unchanged, "file")} already had the wanted path.`]),
    ...(replaced.count === 0
      ? []
      : [`${counted(replaced.count, "file")} replaced (${sized(replaced.bytes)}).`]),
    ...skippedFacts(skipped),
    ...(done === undefined ? ["Nothing was changed."] : receiptText(done.receipt)),
  ];
  const more = hidden > 0 ? `… and ${counted(hidden, "more line")}\n` : "";
  const where = files.length === 0 ? "" : `Below ${named(base)}:\n`;
  return `${where}${shown.map((line) => `${line}\n`).join("")}${more}[${facts.join(" ")}]`;
}

/** A single move or copy needs one sentence. */
function oneAnswer({ subject }: Plan, { from, to }: Pair, { outcomes, receipt }: Done): string {
  const { content, skipped = [], replaced } = outcomes[0] ?? {};
  const bytes = replaced === undefined ? "" : `, replacing ${sized(replaced)}`;
  const what = content === undefined ? "" : `: ${describe(content)}`;
  const did = subject.action === "move" ? "Moved" : "Copied";
  const done = `${did} ${named(from)} to ${named(to)}${what}${bytes}.`;
  return changeAnswer([done, ...skippedFacts(skipped)].join(" "), receipt);
}

function skippedFacts(skipped: readonly string[]): string[] {
  if (skipped.length === 0) return [];
  return [`Skipped, because they lead outside or are not regular files: ${namedList(skipped)}.`];
}

/** `"." → "2024-03": 25 files, "IMG_01.jpg" … "IMG_25.jpg"`; renamed files with the first and the last pair. */
function foldedLines(files: readonly Pair[], base: string): string[] {
  const runs = new Map<string, Pair[]>();
  for (const pair of files) {
    const isRenamed = basename(pair.from) !== basename(pair.to);
    const key = JSON.stringify([dirname(pair.to), dirname(pair.from), isRenamed]);
    const run = runs.get(key) ?? [];
    run.push(pair);
    runs.set(key, run);
  }
  const short = (path: string) => named(relative(base, path) || ".");
  return [...runs.keys()].sort().flatMap((key) => {
    const run = runs.get(key) ?? [];
    const [first, second, last] = [run[0], run[1], run.at(-1)];
    if (first === undefined || last === undefined) return [];
    const pairText = ({ from, to }: Pair) => `${short(from)} → ${short(to)}`;
    if (run.length < 3) return run.map(pairText);
    if (basename(first.from) !== basename(first.to)) {
      const example = [first, second ?? first].map(pairText).join(", ");
      return [`${counted(run.length, "file")}: ${example} … ${pairText(last)}`];
    }
    const names = `${named(basename(first.from))} … ${named(basename(last.from))}`;
    return [
      `${short(dirname(first.from))} → ${short(dirname(first.to))}: ${counted(run.length, "file")}, ${names}`,
    ];
  });
}

function commonDirectory(directories: readonly string[]): string {
  let [common = ""] = directories;
  for (const directory of directories) {
    while (directory !== common && relative(common, directory).startsWith(".."))
      common = dirname(common);
  }
  return common;
}

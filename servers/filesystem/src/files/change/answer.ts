import { basename, dirname, join, relative } from "node:path";
import { digits, fitCount, sizeOf } from "@refmcp/boundary/answer";
import { counted, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { describe, entriesOf } from "../store/state.ts";
import type { Receipt } from "../store/store.ts";
import type { Pair } from "./pattern.ts";
import { type Deletion, type Plan, planMoves } from "./plan.ts";
import { run } from "./run.ts";
import type { Outcome } from "./step.ts";

/** Characters for the lines of a preview, and of the answer after the change. */
const PREVIEW_CHARS = 6_000;
const DONE_CHARS = 1_500;
const MAX_NAMED = 20;
/** At least this many files that go from one directory to another share a line. */
const MIN_FOLDED = 3;
/** How many of these lines of a preview show names. */
const MAX_EXAMPLES = 3;

/** The sentences about the record of a change; none if nothing was changed. */
export function receiptText(receipt: Receipt | undefined): string[] {
  if (receipt === undefined) return [];
  const { changeId, final, note = [] } = receipt;
  return [final === undefined ? `Change ${changeId}.` : `Cannot be undone: ${final}.`].concat(note);
}

/** One line: what was done, then what was recorded. */
export function changeAnswer(done: string, receipt: Receipt | undefined): string {
  return [done, ...receiptText(receipt)].join(" ");
}

/** Some paths, and how many more there are. */
export function namedList(paths: readonly string[]): string {
  const more = paths.length - MAX_NAMED;
  const rest = more > 0 ? ` and ${digits(more)} more` : "";
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
  const others = count === 1 ? "" : ` and ${digits(count - 1)} more`;
  const question = `${verb} ${named(path)}${others}${what}? It will be permanently lost: nothing is kept (--journal-days 0).`;
  const action = `${verb} ${count === 1 ? named(basename(path)) : `${digits(count)} files`}`;
  await call.confirm(question, action);
}

/** `a directory with 2 files (3 B)`, `1 file (3 B)`, `3 files (12 B), 1 directory`. */
export function deletionText(deletions: readonly Deletion[]): string {
  const [first] = deletions;
  if (deletions.length === 1 && first?.content !== undefined)
    return entriesOf(first.content) === 0
      ? "an empty directory"
      : `a directory with ${describe(first.content)}`;
  const count = (type: Deletion["type"]) => deletions.filter((item) => item.type === type).length;
  const bytes = deletions.reduce((sum, deletion) => sum + deletion.bytes, 0);
  const [files, directories, links] = [count("file"), count("directory"), count("link")];
  return describe({ files, directories, links, others: 0, bytes });
}

/** What a plan of moves or copies does or, with `done`, what it did. */
function planAnswer(
  { subject, files, parents, unchanged, replaced }: Plan,
  done?: { readonly receipt: Receipt | undefined; readonly outcomes: readonly Outcome[] },
): string {
  const isMove = subject.action === "move";
  const outcomes = done?.outcomes.slice(-files.length) ?? [];
  const skipped = files.flatMap(({ from }, index) =>
    (outcomes[index]?.skipped ?? []).map((path) => join(from, path)),
  );
  const notes =
    skipped.length === 0
      ? []
      : [`Skipped, because they lead outside or are not regular files: ${namedList(skipped)}.`];
  const [only] = files;
  if (done !== undefined && only !== undefined && files.length === 1 && parents.length === 0) {
    const { content } = outcomes.at(-1) ?? {};
    const bytes = replaced.count === 0 ? "" : `, replacing ${sizeOf(replaced.bytes)}`;
    const what = content === undefined ? "" : `: ${describe(content)}`;
    const sentence = `${isMove ? "Moved" : "Copied"} ${named(only.from)} to ${named(only.to)}${what}${bytes}.`;
    return changeAnswer([sentence, ...notes].join(" "), done.receipt);
  }
  const lines = foldedLines(files, done !== undefined);
  const chars = done === undefined ? PREVIEW_CHARS : DONE_CHARS;
  const visible = lines.slice(
    0,
    fitCount(lines, chars, ({ length }) => length + 1),
  );
  const more = lines.length - visible.length;
  const verb = done === undefined ? `Would ${subject.action}` : isMove ? "Moved" : "Copied";
  const areFiles = files.every(({ stat }) => !stat.isDirectory());
  const [single, many] = areFiles ? ["file", "files"] : ["entry", "entries"];
  const directories = new Set(files.map(({ to }) => dirname(to))).size;
  const into = `${counted(files.length, single, many)} into ${counted(directories, "directory", "directories")}`;
  const narrower = lines.length > files.length ? "" : " To see more names, narrow source.";
  const facts = [
    `${verb} ${into}${parents.length === 0 ? "" : ` (${digits(parents.length)} created)`}.`,
    ...(unchanged === 0 ? [] : [`${counted(unchanged, "file")} already had the wanted path.`]),
    ...(replaced.count === 0
      ? []
      : [`${counted(replaced.count, "file")} replaced (${sizeOf(replaced.bytes)}).`]),
    ...notes,
    ...(done === undefined ? [`Nothing was changed.${narrower}`] : receiptText(done.receipt)),
  ];
  const rest = more > 0 ? [`… and ${counted(more, "more line")}`] : [];
  return [...visible, ...rest, `[${facts.join(" ")}]`].join("\n");
}

/**
 * `25 files: "IMG_01.jpg" → "2024-03/IMG_01.jpg" … "IMG_25.jpg" → "2024-03/IMG_25.jpg"`, below what that is relative to;
 * after some such lines, and after the change, only `25 files: "." → "2024-03"`.
 */
function foldedLines(files: readonly Pair[], isDone: boolean): string[] {
  const base = dirname(files[0]?.from ?? "");
  const line = (pair: Pair, part = (path: string) => path) =>
    [pair.from, pair.to].map((path) => named(relative(base, part(path)) || ".")).join(" → ");
  const groups = new Map<string, Pair[]>();
  for (const pair of files) {
    const key = JSON.stringify([dirname(pair.to), dirname(pair.from)]);
    groups.set(key, [...(groups.get(key) ?? []), pair]);
  }
  let examples = isDone ? 0 : MAX_EXAMPLES;
  const lines = [...groups.keys()].sort().flatMap((key) => {
    const group = groups.get(key) ?? [];
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last || group.length < MIN_FOLDED) return group.map((pair) => line(pair));
    examples -= 1;
    const example = examples < 0 ? line(first, dirname) : `${line(first)} … ${line(last)}`;
    return [`${counted(group.length, "file")}: ${example}`];
  });
  return [`Relative to ${named(base)}:`, ...lines];
}

type MoveRequest = Parameters<typeof planMoves>[1] & { readonly dryRun: boolean };
type Call = Parameters<typeof confirmLoss>[1] & {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
};

/** Moves or copies what was planned, or only describes the plan. */
export async function runMoves(files: Files, { dryRun, ...request }: MoveRequest, call: Call) {
  const { signal } = call;
  const plan = await planMoves(files, { ...request, signal });
  if (dryRun) return planAnswer(plan);
  const { replaced, subject, steps } = plan;
  const what = ` (${sizeOf(replaced.bytes)})`;
  await confirmLoss(files, call, { ...replaced, verb: "Replace", what });
  const progress = (done: number, total: number) => call.progress(done, total);
  return planAnswer(plan, await run(files, subject, steps, { progress, signal }));
}

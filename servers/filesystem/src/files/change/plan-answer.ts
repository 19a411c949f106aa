import { basename, dirname, relative } from "node:path";
import { grouped, sized } from "@refmcp/boundary/answer";
import { receiptText } from "../journal/list-changes.ts";
import type { Receipt } from "../journal/recording.ts";
import { counted, named } from "../messages.ts";
import type { Pair, Plan } from "./plan.ts";

/** Characters for the lines of a preview, and of the answer after the change. */
const PREVIEW_CHARS = 6_000;
const DONE_CHARS = 1_500;
const MAX_SKIPPED = 20;

/** What a plan does, folded by directory: one line for the files that go from one directory to another. */
export function planAnswer(
  plan: Plan,
  done?: { receipt: Receipt | undefined; skipped: readonly string[] },
): string {
  const { action, files, parents, unchanged, replaced } = plan;
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
  const [would, did] = action === "move" ? ["Would move", "Moved"] : ["Would copy", "Copied"];
  const directories = new Set(files.map(({ to }) => dirname(to))).size;
  const areFiles = files.every(({ stat }) => stat?.isDirectory() !== true);
  const items = areFiles
    ? counted(files.length, "file")
    : counted(files.length, "entry", "entries");
  const into = `${items} into ${counted(directories, "directory", "directories")}`;
  const facts = [
    `${done === undefined ? would : did} ${into}${parents.length === 0 ? "" : ` (${grouped(parents.length)} created)`}.`,
    ...(unchanged === 0 ? [] : [`${counted(unchanged, "file")} already had the wanted path.`]),
    ...(replaced.count === 0
      ? []
      : [`${counted(replaced.count, "file")} replaced (${sized(replaced.bytes)}).`]),
    ...skippedFacts(done?.skipped ?? []),
    ...(done === undefined ? ["Nothing was changed."] : receiptText(done.receipt)),
  ];
  const more = hidden > 0 ? `… and ${counted(hidden, "more line")}\n` : "";
  const where = files.length === 0 ? "" : `Below ${named(base)}:\n`;
  return `${where}${shown.map((line) => `${line}\n`).join("")}${more}[${facts.join(" ")}]`;
}

function skippedFacts(skipped: readonly string[]): string[] {
  if (skipped.length === 0) return [];
  const more = skipped.length - MAX_SKIPPED;
  const shown =
    skipped.slice(0, MAX_SKIPPED).map(named).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [`Skipped, because they lead outside or are not regular files: ${shown}.`];
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
    const isRenamed = basename(first.from) !== basename(first.to);
    if (isRenamed) {
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

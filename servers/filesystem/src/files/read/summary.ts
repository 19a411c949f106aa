import { type GuardedDirectory, type PathGuard, statOf } from "@refmcp/boundary";
import { clip, grouped, oneLine, sized } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import { withDirectory } from "../open-path.ts";
import { compareText, TopItems } from "../tree/path-order.ts";
import { type Report, reporter } from "../tree/reporter.ts";
import { walk } from "../tree/walk.ts";
import { type Duplicates, findDuplicates } from "./duplicates.ts";
import { kindOfFile } from "./file-kinds.ts";

/** How many lines each part of a summary has. */
const MAX_FOLDERS = 20;
const MAX_YEARS = 10;
const MAX_FILES = 10;
/** Groups of duplicates, as long as their lines stay within a part of an answer. */
const MAX_GROUPS = 200;
const MAX_GROUP_CHARS = 8_000;
const MAX_COPIES = 4;
const MAX_PATH = 160;
/** Time for the walk, and for everything, in milliseconds. */
const WALK_MS = 25_000;
const TOTAL_MS = 40_000;

interface Sum {
  files: number;
  bytes: number;
}

interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly time: number;
}

export interface SummaryOptions {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Report;
  readonly walkMs?: number;
  readonly totalMs?: number;
}

/**
 * Summarizes everything below a directory, ignored and hidden entries too: sizes by folder, kind and year, the largest,
 * oldest and newest files, and duplicates. Symlinks are not followed.
 *
 * @throws what the guard throws, and the signal's reason.
 */
export async function summarize(
  { guard }: { readonly guard: PathGuard },
  given: string,
  options: SummaryOptions = {},
) {
  return withDirectory(guard, given, (root) => summaryOf(guard, root, options));
}

async function summaryOf(
  guard: PathGuard,
  root: GuardedDirectory,
  { signal, progress, walkMs = WALK_MS, totalMs = TOTAL_MS }: SummaryOptions,
) {
  const add = reporter(progress);
  const total = { files: 0, bytes: 0, directories: 0 };
  const folders = new Map<string, Sum>();
  const kinds = new Map<string, Sum>();
  const years = new Map<string, Sum>();
  const byPath = (a: FoundFile, b: FoundFile) => compareText(a.path, b.path);
  const largest = new TopItems<FoundFile>(MAX_FILES, (a, b) => b.size - a.size || byPath(a, b));
  const oldest = new TopItems<FoundFile>(MAX_FILES, (a, b) => a.time - b.time || byPath(a, b));
  const newest = new TopItems<FoundFile>(MAX_FILES, (a, b) => b.time - a.time || byPath(a, b));
  /** How many files have a size. */
  const sizes = new Map<number, number>();
  const end = performance.now() + totalMs;
  const report = await walk(
    guard,
    root,
    { signal, budgetMs: walkMs, git: true },
    ({ path, name, type, parent }) => {
      add(1);
      if (type === "directory") total.directories += 1;
      if (type !== "file") return undefined;
      const stat = statOf(parent.entry(name));
      if (stat === undefined) return undefined;
      const { size, mtimeMs: time } = stat;
      total.files += 1;
      total.bytes += size;
      const slash = path.indexOf("/");
      count(folders, slash < 0 ? "" : path.slice(0, slash), size);
      count(kinds, kindOfFile(name), size);
      count(years, String(new Date(time).getUTCFullYear()), size);
      const file = { path, size, time };
      largest.add(file);
      oldest.add(file);
      newest.add(file);
      // What git stores is not the user's to delete.
      const isOfGit = path.startsWith(".git/") || path.includes("/.git/");
      if (size > 0 && !isOfGit) sizes.set(size, (sizes.get(size) ?? 0) + 1);
      return undefined;
    },
  );
  await root.verify();
  const isLate = () => performance.now() >= end;
  const duplicates = await findDuplicates(guard, root, sizes, { signal, done: add, isLate });
  return {
    path: root.path,
    ...total,
    unreadable: report.unreadable,
    isCut: report.ended === "late",
    folders,
    kinds,
    years,
    largest: largest.take(),
    oldest: oldest.take(),
    newest: newest.take(),
    duplicates,
  };
}

function count(sums: Map<string, Sum>, key: string, bytes: number): void {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { files: 1, bytes });
  else {
    sum.files += 1;
    sum.bytes += bytes;
  }
}

/** A summary as text: a few lines for each aspect. */
export function summaryAnswer(found: Awaited<ReturnType<typeof summarize>>): string {
  const { files, bytes, directories, duplicates, unreadable, isCut } = found;
  const facts = [
    `path: ${oneLine(found.path)}`,
    `total: ${counted(files, "file")}, ${sized(bytes)}, ${counted(directories, "directory", "directories")}`,
    ...(isCut
      ? ["counted: only a part, because the time ran out; summarize its subdirectories"]
      : []),
    ...(unreadable > 0 ? [`unreadable_directories: ${grouped(unreadable)}`] : []),
  ];
  const bySize = ([a, one]: [string, Sum], [b, other]: [string, Sum]) =>
    other.bytes - one.bytes || compareText(a, b);
  const byName = ([a]: [string, Sum], [b]: [string, Sum]) => compareText(b, a);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  return [
    ...facts,
    ...section("by_folder", sums(found.folders, MAX_FOLDERS, bySize, folderName)),
    ...section("by_kind", sums(found.kinds, MAX_FOLDERS, bySize, String)),
    ...section("by_year_modified", sums(found.years, MAX_YEARS, byName, String)),
    ...section("largest", found.largest.map(fileLine)),
    ...section("oldest", found.oldest.map(fileLine)),
    ...section("newest", found.newest.map(fileLine)),
    ...duplicateLines(duplicates),
  ].join("\n");
}

const folderName = (name: string): string =>
  name === "" ? "(directly in it)" : `${shownPath(name)}/`;

const shownPath = (path: string): string => {
  const line = oneLine(path);
  return line.length > MAX_PATH ? `…${line.slice(1 - MAX_PATH)}` : line;
};

function sums(
  all: ReadonlyMap<string, Sum>,
  max: number,
  order: (a: [string, Sum], b: [string, Sum]) => number,
  nameOf: (key: string) => string,
): string[] {
  const sorted = [...all].sort(order);
  const rest = sorted.slice(max);
  const lineOf = (name: string, { files, bytes }: Sum) =>
    `${name} ${sized(bytes)}, ${counted(files, "file")}`;
  const lines = sorted.slice(0, max).map(([key, sum]) => lineOf(nameOf(key), sum));
  if (rest.length === 0) return lines;
  const files = rest.reduce((total, [, sum]) => total + sum.files, 0);
  const bytes = rest.reduce((total, [, sum]) => total + sum.bytes, 0);
  return [...lines, lineOf(`${grouped(rest.length)} more:`, { files, bytes })];
}

const fileLine = ({ path, size, time }: FoundFile): string =>
  `${sized(size)} ${new Date(time).toISOString().slice(0, 10)} ${shownPath(path)}`;

function duplicateLines({ groups, wasted, isCut }: Duplicates): string[] {
  const note = isCut ? " (not all files were compared)" : "";
  if (groups.length === 0) return [`duplicates: none${note}`];
  const lines: string[] = [];
  let chars = 0;
  for (const { size, paths } of groups.slice(0, MAX_GROUPS)) {
    const more = paths.length - MAX_COPIES;
    const shown = paths
      .slice(0, MAX_COPIES)
      .map((path) => JSON.stringify(clip(shownPath(path), MAX_PATH)));
    const line = `  ${paths.length} × ${sized(size)}: ${shown.join(", ")}${more > 0 ? `, +${grouped(more)} more` : ""}`;
    chars += line.length;
    if (chars > MAX_GROUP_CHARS) break;
    lines.push(line);
  }
  const more = groups.length - lines.length;
  return [
    `duplicates: ${counted(groups.length, "group")}; deleting the copies frees ${sized(wasted)}${note}`,
    ...lines,
    ...(more > 0 ? [`  +${grouped(more)} more groups; summarize a subdirectory to see them`] : []),
  ];
}

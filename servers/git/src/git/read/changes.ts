import { fitCount, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { parseRange } from "../open/revisions.ts";
import { countOf, pathText, records } from "../run/text.ts";
import { inIndexCopy } from "./temporary-index.ts";

/** Arguments that make a diff run no programs and ignore the configuration. */
export const DIFF_ARGS = [
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=dirty"],
  ...["--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames"],
];
/** Arguments that print the changed files as `parseChanges` reads them. */
export const LIST_CHANGES = ["--raw", "--no-abbrev", "--numstat", "-z"];
/** Arguments that read paths from stdin, which `NUL` terminates. */
export const FROM_STDIN = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/** Changed files in a response; `from` is the former path of a rename or copy. */
export const changedFiles = z.array(
  z.object({ path: z.string(), status: z.string(), from: z.string().optional() }),
);
export type ChangedPath = z.infer<typeof changedFiles>[number];
/** What changes of files report: the files, how many, and how to undo it. */
export const changeFields = {
  files: changedFiles,
  count: z.number(),
  /** The commit that keeps what was overwritten. */
  recovery: z.string().optional(),
  undo: z.string().optional(),
};

export interface FileChange {
  readonly path: string;
  /** The former path of a rename or copy. */
  readonly from?: string | undefined;
  /** git's letter: A, M, D, R, C, T, U. */
  readonly letter: string;
  /** Lines; undefined for a binary file. */
  readonly added: number | undefined;
  readonly deleted: number | undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
  U: "conflicted",
};

/** git's letter for a change, as a word. */
export const changeWord = (letter: string) => WORDS[letter] ?? "modified";

/** Names and kinds of changed files, at most `budget` characters of them, and their number. */
export function fileNames(changes: readonly FileChange[], budget: number) {
  const files = changes.map(({ path, from, letter }): ChangedPath => {
    return { path, status: changeWord(letter), from };
  });
  return { files: files.slice(0, fitCount(files, budget)), count: files.length };
}

/**
 * Whether a comparison involves the working tree.
 *
 * @param between one or two revisions, a range, `--cached`, or nothing for the index
 */
function isOfFiles(between: readonly string[]): boolean {
  const [first = ""] = between;
  return between.length < 2 && first !== "--cached" && parseRange(first) === undefined;
}

/**
 * Gives a comparison with the working tree a copy of the index: `git diff` refreshes the times in the
 * index even with GIT_OPTIONAL_LOCKS=0, and a reading tool must not write.
 */
export function comparing<Value>(
  repository: Repository,
  between: readonly string[],
  work: (env: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  return isOfFiles(between) ? inIndexCopy(repository, work) : work({});
}

/** The changed files of a comparison. */
export async function changesOf(
  repository: Repository,
  between: readonly string[],
  paths: readonly string[] = [],
): Promise<FileChange[]> {
  const args = ["diff", ...DIFF_ARGS, "--raw", "-z", ...between, "--", ...paths];
  const output = await comparing(repository, between, (env) =>
    repository.output(args, "compare", { env }),
  );
  return parseChanges(records(output));
}

/** The files that differ, NUL-terminated: objects to compare, options, and `--` with paths. */
export function differing(repository: Repository, ...args: readonly string[]): Promise<Buffer> {
  const plain = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty"];
  const all = ["diff", ...plain, "--no-relative", ...args];
  const end = args.indexOf("--");
  const between = end < 0 ? args : args.slice(0, end);
  return comparing(repository, between, (env) => repository.output(all, "compare", { env }));
}

/** The paths with uncommitted changes, staged or not. The index is not written. */
export async function uncommittedPaths(repository: Repository): Promise<string[]> {
  return (await changesOf(repository, ["HEAD"])).map(({ path }) => path);
}

/**
 * Reads `--raw --numstat -z`: first `:modes oids letter NUL path NUL` (two paths for a rename) of each
 * file, then `added TAB deleted TAB path NUL` (for a rename an empty path and two more fields).
 * Unmerged files may come twice.
 */
export function parseChanges(fields: readonly Buffer[]): FileChange[] {
  const files = new Map<string, FileChange>();
  let at = 0;
  const next = (): Buffer => fields[at++] ?? Buffer.alloc(0);
  const number = (text = "-") => (text === "-" ? undefined : Number(text));
  while (at < fields.length) {
    const field = next();
    if (field[0] === 58) {
      // Two colons begin the record of a file in conflict.
      const kind = field[1] === 58 ? "U" : /([A-Z])\d*$/.exec(field.toString("latin1"))?.[1];
      const first = pathText(next());
      const from = kind === "R" || kind === "C" ? first : undefined;
      const path = from === undefined ? first : pathText(next());
      files.set(path, { path, from, letter: kind ?? "M", added: 0, deleted: 0 });
      continue;
    }
    const [counts, added, deleted] = /^\n*(\d+|-)\t(\d+|-)\t/.exec(field.toString("latin1")) ?? [];
    if (counts === undefined) continue;
    const plain = field.subarray(counts.length);
    const from = plain.length > 0 ? undefined : pathText(next());
    const path = pathText(plain.length > 0 ? plain : next());
    const file = files.get(path) ?? { path, from, letter: "M" };
    files.set(path, { ...file, added: number(added), deleted: number(deleted) });
  }
  return [...files.values()];
}

/** "3 files changed, 10 insertions, 2 deletions". */
export function totalOf(files: readonly FileChange[]): string {
  const binary = files.filter((file) => file.added === undefined).length;
  const total = (what: "added" | "deleted") =>
    files.reduce((lines, file) => lines + (file[what] ?? 0), 0);
  return [
    `${countOf(files.length, "file")} changed`,
    countOf(total("added"), "insertion"),
    countOf(total("deleted"), "deletion"),
    ...(binary > 0 ? [`${binary} binary`] : []),
  ].join(", ");
}

/** One file of a list: its letter unless it is only modified, its lines, and its path. */
export function fileLine({ path, from, letter, added, deleted }: FileChange): string {
  const lines = added === undefined ? "binary" : `+${added} -${deleted ?? 0}`;
  const kind = letter === "M" ? "" : `${letter} `;
  return `${kind}${lines} ${from === undefined ? "" : `${oneLine(from)} => `}${oneLine(path)}`;
}

import { createHash } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { counted, nulEnded, pathText, records } from "../run/text.ts";

/** Arguments that make a diff run no programs and ignore the configuration. */
export const DIFF_ARGS = [
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=dirty"],
  ...["--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames"],
];
/** Arguments that read paths from stdin, which `NUL` terminates. */
export const FROM_STDIN = ["--pathspec-from-file=-", "--pathspec-file-nul"];

/** Changed files in a response: the former path of a rename or copy is `from`; a conflict's status names both sides. */
export const changedFiles = z.array(
  z.object({ path: z.string(), status: z.string(), from: z.string().optional() }),
);
export type ChangedPath = z.infer<typeof changedFiles>[number];
/** What changes of files report: the files, how many, and how to undo it. */
export const changeFields = {
  files: changedFiles,
  count: z.number(),
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
  const files = changes.map(({ path, from, letter }) => ({
    path,
    status: changeWord(letter),
    from,
  }));
  return { files: files.slice(0, fitting(files, budget)), count: files.length };
}

/**
 * Runs a comparison with the working tree on a copy of the index: `git diff` refreshes the times in the index even with
 * GIT_OPTIONAL_LOCKS=0, and a reading tool must not write.
 */
export async function withIndex<Value>(
  repository: Repository,
  between: readonly string[],
  work: (env: Readonly<Record<string, string>>) => Promise<Value>,
): Promise<Value> {
  if (between.length > 1 || between[0] === "--cached") return work({});
  return inTemporaryIndex(async (env) => {
    await copyIndex(repository, env.GIT_INDEX_FILE);
    return work(env);
  });
}

/**
 * Copies the index with its modification time, truncated to the second. git considers a file older than the index unchanged
 * without reading it ("racy git"), so a copy with the current time would hide a change of the same length.
 */
export async function copyIndex(repository: Repository, target: string): Promise<void> {
  const source = join(repository.location.gitDir, "index");
  // The time first: if the index is replaced in between, the copy only looks older than it is.
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined) return;
  const seconds = Math.floor(stats.mtimeMs / 1_000);
  await copyFile(source, target);
  await utimes(target, seconds, seconds);
}

/** Gives some work a folder, which is removed when it ends. */
export async function inTemporaryFolder<Value>(
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-git-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives some work an index that is empty at first, as the environment of git's processes. */
export function inTemporaryIndex<Value>(work: (env: { GIT_INDEX_FILE: string }) => Promise<Value>) {
  return inTemporaryFolder((folder) => work({ GIT_INDEX_FILE: join(folder, "index") }));
}

/** Adds untracked files that are not ignored to a copy of the index, so that a diff shows them as new. */
export async function addUntracked(
  repository: Repository,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const list = ["ls-files", "--others", "--exclude-standard", "-z", "--", ...paths];
  const found = records(await repository.output(list, "list the untracked files", { env }));
  // A name that ends in a slash is a nested repository.
  const input = nulEnded(found.filter((path) => path.at(-1) !== 47));
  if (input.length === 0) return;
  // git writes an empty object for --intent-to-add. It must not go into the repository, because this is a reading tool.
  const objects = `${env.GIT_INDEX_FILE}-objects`;
  await mkdir(objects);
  const options = { env: { ...env, GIT_OBJECT_DIRECTORY: objects }, input };
  await repository.output(
    ["add", "--intent-to-add", ...FROM_STDIN],
    "look at the untracked files",
    options,
  );
}

/** The patch of a comparison, which the same process prints. */
interface Patch {
  readonly how: readonly (string | false)[];
  /** Receives its bytes; returns false to stop git. */
  take(chunk: Buffer): boolean;
}

/** The changed files with their line counts, and a digest that includes the object ids of both sides. */
export async function changesOf(
  repository: Repository,
  between: readonly string[],
  paths: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  ignoreWhitespace = false,
  patch?: Patch,
): Promise<{ files: FileChange[]; digest: string }> {
  const how = [
    ...DIFF_ARGS,
    ignoreWhitespace && "--ignore-all-space",
    "--raw",
    "--no-abbrev",
    "--numstat",
    "-z",
    ...(patch === undefined ? [] : ["--patch", ...patch.how]),
  ];
  const head = headOf(patch);
  const options = { env, maxBytes: Number.MAX_SAFE_INTEGER, onStdout: head.take };
  await repository.output(["diff", ...how, ...between, "--", ...paths], "compare", options);
  const output = Buffer.concat(head.chunks);
  const digest = createHash("sha256").update(output).digest("base64url").slice(0, 16);
  const files = parseChanges(records(output));
  // If only whitespace differs, git counts no lines and omits the file from the patch.
  const isLeftOut = ({ letter, added, deleted }: FileChange) =>
    ignoreWhitespace && letter === "M" && added === 0 && deleted === 0;
  return { files: files.filter((file) => !isLeftOut(file)), digest };
}

/** Passes the patch of a comparison on as it arrives. */
export async function patchOf(
  repository: Repository,
  how: readonly (string | false)[],
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
  take: Patch["take"],
): Promise<void> {
  const options = { onStdout: take, maxBytes: Number.MAX_SAFE_INTEGER, env };
  await repository.output(
    ["diff", ...DIFF_ARGS, "--patch", ...how, "--", ...paths],
    "compare",
    options,
  );
}

const MAX_HEAD_BYTES = 64 * 1024 * 1024;

/** Keeps the records of `--raw --numstat -z`, and passes what follows an empty one on: the patch. */
function headOf(patch: Patch | undefined) {
  const chunks: Buffer[] = [];
  let [bytes, names, isPatch] = [0, 0, false];
  let field = Buffer.alloc(0);
  return { chunks, take };

  function take(chunk: Buffer): boolean {
    for (let start = 0; !isPatch && start < chunk.length; ) {
      const end = chunk.indexOf(0, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end + 1);
      start += part.length;
      field = Buffer.concat([field, part]);
      if (end === -1) break;
      isPatch = names === 0 && field.length === 1;
      if (isPatch && start < chunk.length) return patch?.take(chunk.subarray(start)) ?? false;
      if (isPatch) return true;
      // A raw record is followed by one path, or two if it is a rename; a count by two if it has none itself.
      const isRename = /^:.* [RC]\d*\0$|\t\0$/.test(field.toString("latin1"));
      names = names > 0 ? names - 1 : isRename ? 2 : field[0] === 58 ? 1 : 0;
      bytes += field.length;
      chunks.push(field);
      field = Buffer.alloc(0);
    }
    return isPatch ? (patch?.take(chunk) ?? false) : bytes < MAX_HEAD_BYTES;
  }
}

/** The paths with uncommitted changes, staged or not. The index is not written. */
export async function uncommittedPaths(repository: Repository): Promise<string[]> {
  const head = ["HEAD"];
  const { files } = await withIndex(repository, head, (env) =>
    changesOf(repository, head, [], env),
  );
  return files.map(({ path }) => path);
}

/**
 * Reads `--raw --numstat -z`: first `:modes oids letter NUL path NUL` (two paths for a rename) of each file, then
 * `added TAB deleted TAB path NUL` (for a rename an empty path and two more fields). Unmerged files may come twice.
 */
export function parseChanges(fields: readonly Buffer[]): FileChange[] {
  const letters = new Map<string, string>();
  const files = new Map<string, FileChange>();
  let at = 0;
  const next = (): Buffer => fields[at++] ?? Buffer.alloc(0);
  const number = (text: string) => (text === "-" ? undefined : Number(text));
  while (at < fields.length) {
    const field = next();
    if (field[0] === 58) {
      const letter = /([A-Z])\d*$/.exec(field.toString("latin1"))?.[1] ?? "M";
      const first = next();
      letters.set(pathText(letter === "R" || letter === "C" ? next() : first), letter);
      continue;
    }
    const first = field.indexOf(9);
    const second = field.indexOf(9, first + 1);
    if (first === -1 || second === -1) continue;
    const added = number(field.toString("latin1", 0, first).trim());
    const deleted = number(field.toString("latin1", first + 1, second));
    const plain = field.subarray(second + 1);
    const from = plain.length > 0 ? undefined : pathText(next());
    const path = pathText(plain.length > 0 ? plain : next());
    const letter = letters.get(path) ?? "M";
    files.set(path, { path, from, letter, added, deleted });
  }
  for (const [path, letter] of letters)
    if (!files.has(path)) files.set(path, { path, letter, added: 0, deleted: 0 });
  return [...files.values()];
}

/** How many lines were added to all files, or deleted. */
export function linesOf(files: readonly FileChange[], what: "added" | "deleted"): number {
  return files.reduce((total, file) => total + (file[what] ?? 0), 0);
}

/** "3 files changed, 10 insertions, 2 deletions". */
export function totalOf(files: readonly FileChange[]): string {
  const binary = files.filter((file) => file.added === undefined).length;
  return [
    `${counted(files.length, "file")} changed`,
    counted(linesOf(files, "added"), "insertion"),
    counted(linesOf(files, "deleted"), "deletion"),
    ...(binary > 0 ? [`${binary} binary`] : []),
  ].join(", ");
}

/** One file of a list: `+12 -3 path`, or with its letter if that is passed. */
export function fileLine(
  { path, from, added, deleted }: Pick<FileChange, "path" | "from"> & Partial<FileChange>,
  letter?: string,
): string {
  const first = letter ?? (added === undefined ? "binary" : `+${added} -${deleted ?? 0}`);
  return `${first} ${from === undefined ? "" : `${oneLine(from)} => `}${oneLine(path)}`;
}

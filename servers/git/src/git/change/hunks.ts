import { createHash } from "node:crypto";
import { clip, oneLine, type ToolError } from "@refmcp/boundary/answer";
import { refuseFilters } from "../open/filters.ts";
import { isQuoted, pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { addUntracked, inTemporaryIndex, withIndex } from "../read/changed-files.ts";
import { type Change, type FilePatch, filePatches, firstLine, WHOLE_FILE } from "../read/hunks.ts";
import { failure } from "../run/errors.ts";
import { firstNames } from "../run/text.ts";

/** A file's new entry in an index; the mode 0 removes it. */
export interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly oid: string;
}

interface HunkQuery {
  /** `3fa01c2`, or some of its lines: `3fa01c2:2-4`. */
  readonly ids: readonly string[];
  /** Where the ids are from: the index and the working tree, or HEAD and the index. */
  readonly from: "unstaged" | "staged";
  /** Take the changes, from the old state; or leave them out of the new one. */
  readonly take: boolean;
  /** Whether the ids may be those of untracked files. */
  readonly untracked?: boolean;
}

interface Part {
  readonly text: string;
  readonly id: string;
  /** The first and the last changed line, from 1. */
  readonly first: number;
  readonly last: number;
}

/**
 * Writes the files that result from taking some changes, or from leaving them out, as blobs. Nothing else is changed.
 *
 * @returns the entries of these files, sorted by path
 * @throws ToolError `stale_hunk`, `bad_hunk`, `filter_needed`
 */
export async function entriesOf(repository: Repository, query: HunkQuery): Promise<Entry[]> {
  const parts = query.ids.map(partOf);
  const between = query.from === "staged" ? ["--cached"] : [];
  const files = await withIndex(repository, between, async (env) => {
    const read = async (paths: readonly string[], context?: number) => {
      const found = await filePatches(repository, between, paths, env, context);
      if (found !== undefined) return found;
      const message =
        "The changes are more than 64 MiB or a million lines, too much to select parts of them.";
      throw failure("too_large", message, { hint: "Pass whole files in files." });
    };
    let all = await read([]);
    if (query.untracked && parts.some((part) => find(all, part).length === 0)) {
      await addUntracked(repository, [], env);
      all = await read([]);
    }
    const wanted = new Set(parts.map((part) => theOne(all, part, query.from).file));
    const paths = [...wanted].flatMap(({ path, renamedFrom }) => [path, renamedFrom ?? path]);
    await refuseFilters(repository, () => pathBytes(repository, paths));
    // Names that are not UTF-8 cannot be passed to git.
    return read(paths.some(isQuoted) ? [] : paths, WHOLE_FILE);
  });
  const chosen = new Map<FilePatch, Set<number>>();
  for (const part of parts) {
    const { file, change } = theOne(files, part, query.from);
    const lines = chosen.get(file) ?? new Set();
    chosen.set(file, lines);
    for (const index of linesOf(part, change)) lines.add(index);
  }
  const entries: Entry[] = [];
  for (const [file, lines] of chosen)
    entries.push(...(await results(repository, file, lines, query.take)));
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function partOf(text: string): Part {
  const [, id, first, last = first] =
    /^([0-9a-f]{7})(?::(\d{1,8})(?:-(\d{1,8}))?)?$/.exec(text) ?? [];
  const range = { first: Number(first ?? 1), last: Number(last ?? Number.MAX_SAFE_INTEGER) };
  if (id === undefined || range.first < 1 || range.last < range.first)
    throw failure("bad_hunk", `"${oneLine(text.slice(0, 60))}" is not the id of a change.`);
  return { text, id, ...range };
}

interface Found {
  readonly file: FilePatch;
  readonly change: Change;
}

function find(files: readonly FilePatch[], { id }: Part): Found[] {
  return files.flatMap((file) =>
    file.changes.flatMap((change) => (change.id === id ? [{ file, change }] : [])),
  );
}

function theOne(files: readonly FilePatch[], part: Part, from: HunkQuery["from"]): Found {
  const [found, another] = find(files, part);
  if (found !== undefined && another === undefined) return found;
  throw stale(files, part, from);
}

/** The error for an unknown id, with the current ids of its path. */
function stale(
  files: readonly FilePatch[],
  { text, id }: Part,
  from: HunkQuery["from"],
): ToolError {
  const near = files.filter(({ changes }) => changes[0]?.id.slice(0, 2) === id.slice(0, 2));
  const list = near.flatMap((file) =>
    file.changes.map(
      (change) =>
        `${change.id} (${file.path} line ${change.new}: ${clip(firstLine(file, change), 60)})`,
    ),
  );
  const now = list.length === 0 ? "" : ` Current ids there: ${firstNames(list, 20)}.`;
  return failure(
    "stale_hunk",
    `No single ${from} change has the id ${text}.${now} Nothing was changed.`,
    {
      hint: `git_diff_${from} shows the current ids. Binary files, submodules and modes have none: pass them in files.`,
    },
  );
}

/** The indexes of the lines that a part names. */
function linesOf(part: Part, { start, end }: Change): number[] {
  const all = Array.from({ length: end - start }, (_, i) => start + i);
  if (
    part.first <= all.length &&
    (part.last <= all.length || part.last === Number.MAX_SAFE_INTEGER)
  )
    return all.slice(part.first - 1, part.last);
  const message = `${part.text}: that change has ${all.length} changed lines, counted from 1.`;
  throw failure("bad_hunk", message);
}

/** The file that results, byte for byte, and the former path of a renamed one, which goes with it. */
async function results(
  repository: Repository,
  file: FilePatch,
  chosen: ReadonlySet<number>,
  take: boolean,
): Promise<Entry[]> {
  // The patch has the whole file, so its two sides must be the two blobs.
  const without = (left: string) => contentOf(file, (kind) => kind !== left);
  if (
    !isBlob(without("+"), file.oldMode, file.oldId) ||
    !isBlob(without("-"), file.newMode, file.newId)
  )
    throw failure("stale_hunk", `"${oneLine(file.path)}" changed while it was read.`);
  const applied = take ? "+" : "-";
  const content = contentOf(file, (kind, index) =>
    kind === " " ? true : chosen.has(index) ? kind === applied : kind !== applied,
  );
  const isAll = file.lines.every(({ kind }, index) => kind === " " || chosen.has(index));
  const [from, to] = take ? [file.oldMode, file.newMode] : [file.newMode, file.oldMode];
  const mode = from ?? to ?? "100644";
  const removed = (path: string): Entry => ({
    path,
    mode: "0",
    oid: "0".repeat(file.oldId.length),
  });
  const renamed = take && file.renamedFrom !== undefined ? [removed(file.renamedFrom)] : [];
  if (to === undefined && isAll) return [removed(file.path), ...renamed];
  return [{ path: file.path, mode, oid: await writeBlob(repository, content) }, ...renamed];
}

/** The lines of one state of a file. Only the last may be without a line break. */
function contentOf(
  { lines }: FilePatch,
  keep: (kind: " " | "-" | "+", index: number) => boolean,
): Buffer {
  const kept = lines.filter(({ kind }, index) => keep(kind, index)).map(({ bytes }) => bytes);
  const newline = Buffer.from("\n");
  return Buffer.concat(
    kept.flatMap((bytes, index) =>
      index < kept.length - 1 && bytes.at(-1) !== 10 ? [bytes, newline] : [bytes],
    ),
  );
}

function isBlob(content: Buffer, mode: string | undefined, oid: string): boolean {
  if (mode === undefined) return content.length === 0;
  const hash = createHash(oid.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${content.length}\0`).update(content).digest("hex") === oid;
}

/** Writes a blob and returns its id. */
export function writeBlob(repository: Repository, input: Buffer): Promise<string> {
  return repository.value(["hash-object", "-w", "--stdin"], "write a file", { input });
}

/** Writes entries into an index; by default into the repository's. */
export async function writeEntries(
  repository: Repository,
  entries: readonly Entry[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const lines: Buffer[] = [];
  for (const { path, mode, oid } of entries) {
    lines.push(Buffer.from(`${mode} ${oid}\t`), await pathBytes(repository, [path]));
  }
  const options = { env, input: Buffer.concat(lines) };
  await repository.output(["update-index", "-z", "--index-info"], "stage the changes", options);
}

/** The tree that results from writing entries into another one, or into an empty one. */
export function treeWith(
  repository: Repository,
  tree: string | undefined,
  entries: readonly Entry[],
): Promise<string> {
  return inTemporaryIndex(async (env) => {
    if (tree !== undefined) await repository.output(["read-tree", tree], "read a tree", { env });
    if (entries.length > 0) await writeEntries(repository, entries, env);
    return repository.value(["write-tree"], "write a tree", { env });
  });
}

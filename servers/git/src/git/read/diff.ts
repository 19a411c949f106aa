import { posix } from "node:path";
import { clip, cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { filterNote } from "../open/filters.ts";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { failure } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { counted, firstNames, fittingLines, nulEnded, textOf } from "../run/text.ts";
import {
  addUntracked,
  changesOf,
  type FileChange,
  fileLine,
  patchOf,
  totalOf,
  withIndex,
} from "./changed-files.ts";
import { filePatches, withIds } from "./hunks.ts";
import { type LinePage, linePager } from "./line-pager.ts";

export type DiffFormat = "patch" | "stat" | "name_status";

interface DiffQuery {
  /** What to compare: object ids, or `--cached`, or nothing for the working tree with the index. */
  readonly between: readonly string[];
  readonly context_lines?: number;
  readonly paths?: readonly string[] | undefined;
  readonly format?: DiffFormat;
  readonly ignore_whitespace?: boolean;
  readonly include_untracked?: boolean;
  readonly cursor?: string | undefined;
  /** Whether the hunks show the ids that git_add, git_reset, git_restore and git_commit take. */
  readonly hunk_ids?: boolean;
  /** The tool that the cursors belong to. */
  readonly tool: string;
}

/** A diff as text, and one line about it from the server. */
export interface DiffText {
  readonly body: string;
  readonly facts: string;
}

const position = z.object({ digest: z.string(), line: z.int().min(0) });

/** Files that package managers write and nobody reads in a patch. */
const LOCK_FILES = [
  ...[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "deno.lock",
  ],
  ...["Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock"],
  ...[
    "composer.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "Package.resolved",
    "flake.lock",
  ],
  ...["packages.lock.json", "gradle.lockfile"],
];
/** The first line of such a file in a patch. */
const LOCK_FILE_START = new RegExp(
  `^(diff --git .*/|(diff --(cc|combined)|\\* Unmerged path) (.*/)?)(${LOCK_FILES.join("|").replaceAll(".", "\\.")})"?$`,
);

/**
 * A diff within the budget: whole files as long as they fit, a larger one by hunks, and a cursor for the rest. The cursor is
 * bound to the object ids and the changes, so that all pages belong to the same diff.
 *
 * @throws ToolError `conflict`, code `stale_cursor`
 */
export async function diff(
  repository: Repository,
  query: DiffQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const {
    between,
    context_lines = 3,
    format = "patch",
    ignore_whitespace = false,
    include_untracked = false,
    hunk_ids = false,
  } = query;
  const scope = { between, context_lines, paths, format, ignore_whitespace, include_untracked };
  const cursors = cursorsOf(query.tool, [repository.location.gitDir, scope], position);
  const start = cursors.decode(query.cursor);
  const skip = start?.line ?? 0;
  const remaining = budget - 700;
  const [{ files: all, digest }, found, patches] = await withIndex(
    repository,
    between,
    async (env) => {
      if (include_untracked) await addUntracked(repository, paths, env);
      const pager = patchPager(skip, remaining, paths.length === 0);
      const how = [`--unified=${context_lines}`, ignore_whitespace && "--ignore-all-space"];
      const isPatch = format === "patch";
      // In one process, git would leave files in conflict out of the patch.
      const isOne = isPatch && between.length === 2;
      const [changes, , patches] = await together([
        changesOf(
          repository,
          between,
          paths,
          env,
          ignore_whitespace,
          isOne ? { how, take: pager.take } : undefined,
        ),
        isPatch && !isOne && patchOf(repository, [...how, ...between], paths, env, pager.take),
        // Other lines of the same files would be compared, or compared in another way.
        hunk_ids && isPatch && context_lines > 0 && !ignore_whitespace
          ? filePatches(repository, between, paths, env)
          : undefined,
      ]);
      return [changes, format === "patch" ? pager.page() : format, patches] as const;
    },
  );
  const page =
    typeof found === "string" || patches === undefined
      ? found
      : { ...found, lines: withIds(patches, found.lines, found.landmark) };
  if (start !== undefined && start.digest !== digest)
    throw failure(
      "stale_cursor",
      "The changes are different from those the cursor was created for.",
    );
  const names = () => nulEnded(all.map(({ path }) => path));
  const isOfFiles = between.length < 2 && between[0] !== "--cached";
  const note = isOfFiles
    ? await filterNote(repository, names, "as stored on disk; they may actually be unchanged")
    : undefined;
  const isOmitted = ({ path }: FileChange) =>
    paths.length === 0 && LOCK_FILES.includes(posix.basename(path));
  const omitted = format === "patch" ? all.filter(isOmitted) : [];
  const { text, next, left } =
    typeof page === "string"
      ? listPart(all, page, skip, remaining)
      : patchPart(
          page,
          all.filter((file) => !omitted.includes(file)),
          skip,
          remaining,
        );
  const cutLines = typeof page === "string" ? 0 : page.cutLines;
  const cursor = next === undefined ? undefined : cursors.encode({ digest, line: next });
  const facts = [
    format === "patch" && totalOf(all),
    left.length > 0 && `not shown yet: ${someOf(left)}`,
    omitted.length > 0 && `lock files omitted unless named in paths: ${someOf(omitted)}`,
    cutLines > 0 && `${counted(cutLines, "very long line")} cut`,
    cursor !== undefined && `continue with cursor "${cursor}" or narrow with paths`,
    note?.replace(/\.$/, ""),
  ].filter(Boolean);
  return {
    body: format === "patch" ? text : [totalOf(all), text].join("\n").trimEnd(),
    facts: facts.length === 0 ? "" : `(${facts.join("; ")})`,
  };
}

/** Whether a line of a patch begins a file. Content always begins with a space, `+`, `-` or `\`. */
const isFileStart = (line: string) => /^(diff --|\* Unmerged path)/.test(line);

/** Reads a page of the patch's lines. If it begins in the middle of a file, that file's header is its landmark. */
function patchPager(skip: number, remaining: number, omitsLockFiles: boolean) {
  let inHeader = false;
  let isOmitted = false;
  return linePager({
    skip,
    maxLines: Number.MAX_SAFE_INTEGER,
    // A character may have three bytes; the result is then cut by characters.
    maxBytes: remaining * 3,
    maxLineBytes: Math.max(500, Math.floor(remaining / 4)),
    omits(line) {
      if (omitsLockFiles && isFileStart(line.toString("latin1", 0, 15)))
        isOmitted = LOCK_FILE_START.test(line.toString("latin1"));
      return isOmitted;
    },
    landmark(line) {
      const isStart = isFileStart(line.toString("latin1", 0, 15));
      inHeader = isStart || (inHeader && line[0] !== 64);
      return isStart ? "start" : inHeader ? "more" : undefined;
    },
  });
}

/**
 * `next`: the line or file to continue from; undefined at the end. `left`: files of a patch that were not shown yet.
 */
type Part = { text: string; next: number | undefined; left: readonly FileChange[] };

/**
 * As many complete files of a page as fit; if the first one does not, as many of its hunks or lines as fit. The first page of
 * a patch over the budget starts with the counts of all files.
 */
function patchPart(
  page: LinePage,
  files: readonly FileChange[],
  skip: number,
  remaining: number,
): Part {
  const lines = page.lines.map(textOf);
  const landmark = page.landmark.map(textOf);
  const isWhole = !page.more && lines.join("\n").length <= remaining;
  const summary = skip === 0 && !isWhole ? [summaryOf(files, Math.floor(remaining / 4))] : [];
  const header = skip > 0 && lines[0] !== undefined && !isFileStart(lines[0]) ? landmark : [];
  const rest = remaining - summary.join("").length - header.join("\n").length;
  const shown = isWhole ? lines : lines.slice(0, endOfPart(lines, rest));
  const text = [...summary, ...header, ...shown].join("\n");
  if (!page.more && shown.length === lines.length) return { text, next: undefined, left: [] };
  // A later page does not know how many files came before it, so it goes by the name of the last one.
  const last = [...landmark, ...shown].findLast(isFileStart) ?? "";
  const at = files.findIndex(({ path }) => last.endsWith(` b/${path}`));
  const left =
    skip === 0 ? files.slice(shown.filter(isFileStart).length) : at < 0 ? [] : files.slice(at + 1);
  return { text, next: skip + shown.length, left };
}

/** How many lines to show: up to the last file that fits, else the last hunk, else the last line. */
function endOfPart(lines: readonly string[], remaining: number): number {
  let used = 0;
  let file = 0;
  let hunk = 0;
  for (const [index, line] of lines.entries()) {
    if (isFileStart(line)) file = index;
    else if (line.startsWith("@@")) hunk = index;
    used += line.length + 1;
    if (used <= remaining) continue;
    if (file > 0) return file;
    return hunk > 0 && hunk > index / 2 ? hunk : Math.max(1, index);
  }
  // The whole page fits, and another one follows.
  return file > 0 ? file : lines.length;
}

function summaryOf(files: readonly FileChange[], remaining: number): string {
  const lines = files.map((file) => fileLine(file));
  const shown = fittingLines(lines, remaining);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`… and ${counted(rest, "more file")}`] : []), ""].join("\n");
}

function listPart(
  files: readonly FileChange[],
  format: "stat" | "name_status",
  skip: number,
  remaining: number,
): Part {
  const rest = files
    .slice(skip)
    .map((file) => clip(fileLine(file, format === "stat" ? undefined : file.letter), 2_000));
  const shown = fittingLines(rest, remaining);
  const next = shown.length < rest.length ? skip + shown.length : undefined;
  return { text: shown.join("\n"), next, left: [] };
}

const someOf = (files: readonly FileChange[]) =>
  firstNames(
    files.map(({ path }) => clip(path, 60)),
    5,
  );

import { posix } from "node:path";
import { cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { filterNote } from "../open/filters.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { staleCursor } from "../run/failures.ts";
import { together } from "../run/run-git.ts";
import { addUntracked, changesOf, DIFF_ARGS, isFileStart, withIndex } from "./changed-files.ts";
import { diffFacts, fileList, wholeFiles } from "./diff-text.ts";
import { type LinePage, LinePager } from "./line-pager.ts";

export type DiffFormat = "patch" | "stat" | "name_status";

interface DiffQuery {
  /** What to compare: object ids, or `--cached`, or nothing for the working tree with the index. */
  readonly between: readonly string[];
  /** Default: 3. */
  readonly context_lines?: number;
  readonly paths?: readonly string[] | undefined;
  /** Default: a patch. */
  readonly format?: DiffFormat;
  /** Whitespace-only changes are ignored. */
  readonly ignore_whitespace?: boolean;
  /** Whether untracked files are shown as new. */
  readonly include_untracked?: boolean;
  readonly cursor?: string | undefined;
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
  ...["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "deno.lock"],
  ...["Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock"],
  ...["composer.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "flake.lock"],
  ...["packages.lock.json", "gradle.lockfile"],
];
const WITHOUT_LOCK_FILES = LOCK_FILES.map((name) => `:(exclude,glob)**/${name}`);

/**
 * A diff within the budget: whole files as long as they fit, a larger one by hunks, and a cursor for the rest. The cursor is
 * bound to the object ids and the changes, so that all pages belong to the same diff.
 *
 * @param budget characters of the answer
 * @throws ToolError `conflict`, code `stale_cursor`
 */
export async function diff(repository: Repository, query: DiffQuery, budget: number): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const {
    between,
    context_lines = 3,
    format = "patch",
    ignore_whitespace = false,
    include_untracked = false,
  } = query;
  const scope = { between, context_lines, paths, format, ignore_whitespace, include_untracked };
  const cursors = cursorsOf(query.tool, [repository.location.gitDir, scope], position);
  const start = cursors.decode(query.cursor);
  const skip = start?.line ?? 0;
  const remaining = budget - 700;
  const [changes, page] = await withIndex(repository, query.between, async (env) => {
    if (include_untracked) await addUntracked(repository, paths, env);
    return together([
      changesOf(repository, between, paths, env, ignore_whitespace),
      format === "patch" ? patchPage(repository, query, paths, skip, remaining, env) : format,
    ]);
  });
  if (start !== undefined && start.digest !== changes.digest)
    throw staleCursor("The changes are different from those the cursor was created for.");
  const isOfFiles = query.between.length < 2 && query.between[0] !== "--cached";
  const names = changes.files.map(({ path }) => `${path}\0`).join("");
  const note = isOfFiles
    ? await filterNote(
        repository,
        () => Buffer.from(names),
        "as stored on disk; they may actually be unchanged",
      )
    : undefined;
  const cursorAt = (line: number | undefined) =>
    line === undefined ? undefined : cursors.encode({ digest: changes.digest, line });
  if (typeof page === "string") {
    const { text, next } = fileList(changes.files, page, skip, remaining);
    return { body: text, facts: diffFacts(changes.files, { cursor: cursorAt(next), note }) };
  }
  const isLocked = ({ path }: { path: string }) => LOCK_FILES.includes(posix.basename(path));
  const locked = paths.length === 0 ? changes.files.filter(isLocked).map(({ path }) => path) : [];
  const files = changes.files.filter(({ path }) => !locked.includes(path));
  const { text, next, leftOut } = wholeFiles(page, files, skip, remaining);
  const rest = { cursor: cursorAt(next), note, locked, leftOut, cutLines: page.cutLines };
  return { body: text, facts: diffFacts(changes.files, rest) };
}

/** A page of the patch's lines. If it begins in the middle of a file, that file's header is its landmark. */
async function patchPage(
  repository: Repository,
  query: DiffQuery,
  paths: readonly string[],
  skip: number,
  remaining: number,
  env: Readonly<Record<string, string>>,
): Promise<LinePage> {
  let inHeader = false;
  const pager = new LinePager({
    skip,
    maxLines: Number.MAX_SAFE_INTEGER,
    // A character may have three bytes; the result is then cut by characters.
    maxBytes: remaining * 3,
    maxLineBytes: Math.max(500, Math.floor(remaining / 4)),
    landmark(line) {
      if (isFileStart(line)) {
        inHeader = true;
        return "start";
      }
      if (line[0] === 64) inHeader = false;
      return inHeader ? "more" : undefined;
    },
  });
  const how = [
    `--unified=${query.context_lines ?? 3}`,
    ...(query.ignore_whitespace ? ["--ignore-all-space"] : []),
  ];
  const what = paths.length > 0 ? paths : WITHOUT_LOCK_FILES;
  await repository.output(
    ["diff", ...DIFF_ARGS, "--patch", ...how, ...query.between, "--", ...what],
    "compare",
    {
      onStdout: (chunk) => pager.take(chunk),
      maxBytes: Number.MAX_SAFE_INTEGER,
      // Our own patterns use pathspec magic; a call's paths are literal.
      env: paths.length > 0 ? env : { ...env, GIT_LITERAL_PATHSPECS: "0" },
    },
  );
  return pager.page();
}

import { posix } from "node:path";
import { cursorsOf, ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { filterNote } from "../open/filters.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { together } from "../run/run-git.ts";
import { addUntracked, changesOf, DIFF_ARGS, isFileStart, withIndex } from "./changed-files.ts";
import { diffFacts, fileList, wholeFiles } from "./diff-text.ts";
import { type LinePage, LinePager } from "./line-pager.ts";

export type DiffFormat = "patch" | "stat" | "name_status";

export interface DiffQuery {
  /** What is compared: object ids, or `--cached`, or nothing for the working tree against the index. */
  readonly between: readonly string[];
  readonly contextLines: number;
  readonly paths?: readonly string[] | undefined;
  readonly format: DiffFormat;
  /** Whitespace-only changes are ignored. */
  readonly ignoreWhitespace?: boolean;
  /** Whether files that git does not track yet are shown as new ones. */
  readonly untracked?: boolean;
  readonly cursor?: string | undefined;
  /** The tool, to which its cursors belong. */
  readonly tool: string;
}

/** A diff as text, and one line about it from the server. */
export interface DiffText {
  readonly body: string;
  readonly facts: string;
}

const position = z.object({ digest: z.string(), line: z.int().min(0) });

/** Files written by package managers, which nobody reads in a patch. */
const LOCK_FILES = [
  ...["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "deno.lock"],
  ...["Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "Gemfile.lock"],
  ...["composer.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "Package.resolved", "flake.lock"],
  ...["packages.lock.json", "gradle.lockfile"],
];
const WITHOUT_LOCK_FILES = LOCK_FILES.map((name) => `:(exclude,glob)**/${name}`);

/**
 * A diff within the budget: whole files while they fit, a too large one by hunks, and a cursor for the rest. The cursor is
 * bound to the object ids and to what has changed, so that a page never belongs to another diff than the one before.
 *
 * @param budget characters of the answer
 * @throws ToolError `conflict`, code `stale_cursor`
 */
export async function diff(repository: Repository, query: DiffQuery, budget: number): Promise<DiffText> {
  const paths = await pathsIn(repository, query.paths ?? []);
  const { between, contextLines, format, ignoreWhitespace = false, untracked = false } = query;
  const scope = [
    repository.location.gitDir,
    between,
    contextLines,
    paths,
    format,
    ignoreWhitespace,
    untracked,
  ];
  const cursors = cursorsOf(query.tool, scope, position);
  const start = cursors.decode(query.cursor);
  const skip = start?.line ?? 0;
  const remaining = budget - 700;
  const [changes, page] = await withIndex(repository, query.between, async (env) => {
    if (untracked) await addUntracked(repository, paths, env);
    return together([
      changesOf(repository, between, paths, env, ignoreWhitespace),
      format === "patch" ? patchPage(repository, query, paths, skip, remaining, env) : format,
    ]);
  });
  if (start !== undefined && start.digest !== changes.digest) {
    throw new ToolError("conflict", "The changes are different from those the cursor was created for.", {
      code: "stale_cursor",
      hint: "Call again without cursor.",
    });
  }
  const isOfFiles = query.between.length < 2 && query.between[0] !== "--cached";
  const names = changes.files.map(({ path }) => `${path}\0`).join("");
  const note = isOfFiles
    ? await filterNote(repository, Buffer.from(names), "as stored on disk; they may actually be unchanged")
    : undefined;
  if (typeof page === "string") {
    const list = fileList(changes.files, page, skip, remaining);
    const next = list.next < changes.files.length ? list.next : undefined;
    const cursor = next === undefined ? undefined : cursors.encode({ digest: changes.digest, line: next });
    return { body: list.text, facts: diffFacts(changes.files, { cursor, note }) };
  }
  const isLocked = ({ path }: { path: string }) => LOCK_FILES.includes(posix.basename(path));
  const locked = paths.length === 0 ? changes.files.filter(isLocked).map(({ path }) => path) : [];
  const files = changes.files.filter(({ path }) => !locked.includes(path));
  const shown = wholeFiles(page, files, skip, remaining);
  const cursor =
    shown.next === undefined ? undefined : cursors.encode({ digest: changes.digest, line: shown.next });
  return {
    body: shown.text,
    facts: diffFacts(changes.files, {
      cursor,
      note,
      locked,
      leftOut: shown.leftOut,
      cutLines: page.cutLines,
    }),
  };
}

/** A page of the patch's lines; the header of the file in whose middle it begins is its landmark. */
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
    // A character may take three bytes; what is too much is cut by characters afterwards.
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
  const how = [`--unified=${query.contextLines}`, ...(query.ignoreWhitespace ? ["--ignore-all-space"] : [])];
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

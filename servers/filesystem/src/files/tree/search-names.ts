import { join } from "node:path";
import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import { clip, cursorsOf, fitting, grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { compileExclusion, compileGlob, type Glob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { withDirectory } from "../open-path.ts";
import { type EntryType, statOf } from "./open-below.ts";
import { comparePaths, TopItems } from "./path-order.ts";
import { type Met, type WalkReport, walk } from "./walk.ts";

export interface NameSearch {
  readonly path: string;
  readonly pattern: string;
  readonly exclude: readonly string[];
  readonly type: "file" | "directory" | "any";
  /** Shows what ignore rules hide; `.git` stays hidden. */
  readonly includeIgnored: boolean;
  /** `mtime` and `size` put the newest and the largest first. */
  readonly sort: "path" | "mtime" | "size";
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Maximum characters of the answer. */
  readonly budget: number;
  /** Time limit in milliseconds; default 20 s. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

export interface FoundName {
  /** Absolute. */
  path: string;
  type: EntryType;
  /** A file's bytes, if sorted by size. */
  size?: number;
  /** ISO 8601, if sorted by time. */
  modified?: string;
}

export interface NamesFound {
  matches: FoundName[];
  /** The number of all matches; absent on later pages and if the search did not finish. */
  total?: number;
  /** Entries hidden by ignore rules; a hidden directory counts once. Absent on later pages. */
  hidden?: number;
  next_cursor?: string;
  notes?: string[];
}

/** A match during a search; `key` is the sort key, descending. */
interface Match {
  readonly path: string;
  readonly type: EntryType;
  readonly key: number;
}

const position = z.tuple([z.number(), z.string()]);
const BUDGET_MS = 20_000;
/** Characters of an answer reserved for text other than its matches and cursor. */
const FRAME = 1_000;

/**
 * Finds files and directories below `path` whose name or path matches a glob, in pages. Links are included, not
 * followed.
 *
 * @param extraIgnored patterns of the `--ignore` option.
 * @throws ToolError `invalid` for a glob or cursor that cannot be used, `timeout` if a search that needs all results
 * first (sorted by time or size) took too long.
 */
export async function searchNames(
  guard: PathGuard,
  request: NameSearch,
  extraIgnored: readonly string[],
): Promise<NamesFound> {
  const glob = compileGlob(request.pattern);
  const exclude = compileExclusion(request.exclude);
  return withDirectory(guard, request.path, async (root) => {
    const { pattern, type: wanted, includeIgnored, sort } = request;
    const query = [root.realPath, pattern, request.exclude, wanted, includeIgnored, sort];
    const cursors = cursorsOf("search_files", query, position);
    const after = cursors.decode(request.cursor);
    const top = new TopItems<Match>(request.limit + 1, compareMatches);
    let total = 0;
    const visit = ({ path, name, type, parent }: Met): "stop" | undefined => {
      if (wanted !== "any" && type !== wanted) return undefined;
      if (!glob.matches(path, name, type === "directory")) return undefined;
      const stat = sort === "path" ? undefined : statOf(parent.entry(name));
      if (stat === undefined && sort !== "path") return undefined;
      total += 1;
      const key = stat === undefined ? 0 : sort === "mtime" ? stat.mtimeMs : type === "file" ? stat.size : -1;
      const match = { path, type, key };
      if (after === undefined || compareMatches(match, { key: after[0], path: after[1] }) > 0) top.add(match);
      // The first page counts everything; later ones stop when full.
      return after !== undefined && sort === "path" && total > request.limit ? "stop" : undefined;
    };
    const report = await walk(
      guard,
      root,
      {
        signal: request.signal,
        budgetMs: request.budgetMs ?? BUDGET_MS,
        exclude,
        ignore: includeIgnored ? undefined : await IgnoreScope.above(guard, root, extraIgnored),
        after: sort === "path" ? after?.[1] : undefined,
      },
      visit,
    );
    await root.verify();
    if (report.ended === "late" && sort !== "path") throw tooLate(request);

    const all = top.take();
    const described = all.slice(0, request.limit).map((match) => describe(root, match, sort));
    // The cursor contains a path as well, in a longer form.
    const reserved = FRAME + 2 * Math.max(0, ...described.map(({ path }) => path.length));
    const matches = described.slice(0, fitting(described, request.budget - reserved));
    const last = all[matches.length - 1];
    const first = after === undefined;
    const lateAt: [number, string] | undefined =
      report.ended === "late" && report.last !== undefined ? [0, report.last] : undefined;
    const resume: [number, string] | undefined =
      last !== undefined && all.length > matches.length ? [last.key, last.path] : lateAt;
    const notes = notesOn(request, glob, report, total);
    return {
      matches,
      ...(first && report.ended === "complete" ? { total } : {}),
      ...(first && report.hidden > 0 && !includeIgnored ? { hidden: report.hidden } : {}),
      ...(resume === undefined ? {} : { next_cursor: cursors.encode(resume) }),
      ...(notes.length > 0 ? { notes } : {}),
    };
  });
}

function compareMatches(a: Pick<Match, "key" | "path">, b: Pick<Match, "key" | "path">): number {
  return b.key - a.key || comparePaths(a.path, b.path);
}

function describe(root: GuardedDirectory, { path, type, key }: Match, sort: NameSearch["sort"]): FoundName {
  const found: FoundName = { path: join(root.path, path), type };
  if (sort === "mtime") found.modified = new Date(key).toISOString();
  if (sort === "size" && type === "file") found.size = key;
  return found;
}

function notesOn(request: NameSearch, glob: Glob, report: WalkReport, total: number): string[] {
  const notes: string[] = [];
  if (report.ended === "late") {
    notes.push(
      `The search ran out of time at ${JSON.stringify(oneLine(clip(report.last ?? "", 200)))}; continue from there with next_cursor.`,
    );
  }
  if (request.cursor !== undefined) return notes;
  if (report.hidden > 0 && !request.includeIgnored) {
    const entries = report.hidden === 1 ? "1 entry is" : `${grouped(report.hidden)} entries are`;
    notes.push(`${entries} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`);
  }
  if (report.unreadable > 0) notes.push(`${grouped(report.unreadable)} directories could not be read.`);
  if (total === 0 && !glob.hasWildcard && report.ended === "complete") {
    notes.push(
      `The pattern has no wildcard and matches only this exact name; "*${request.pattern}*" matches names that contain it.`,
    );
  }
  return notes;
}

function tooLate(request: NameSearch): ToolError {
  const seconds = (request.budgetMs ?? BUDGET_MS) / 1000;
  return new ToolError(
    "timeout",
    `The search did not finish within ${seconds} s, and sorting by ${request.sort} needs all results.`,
    {
      hint: 'Search a subdirectory, exclude large ones, or use sort="path", which returns results in pages.',
    },
  );
}

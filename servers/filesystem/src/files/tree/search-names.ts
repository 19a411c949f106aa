import { join } from "node:path";
import { statOf } from "@refmcp/boundary";
import { clip, grouped, oneLine } from "@refmcp/boundary/answer";
import { counted, failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { withDirectory } from "../open-path.ts";
import { compileExclusion, compileGlob } from "../search/glob.ts";
import { ignoreRules } from "../search/ignore.ts";
import { keyedPage, keyOf, more } from "./pages.ts";
import { comparePaths } from "./path-order.ts";
import { type Report, reporter } from "./reporter.ts";
import { type Met, walk } from "./walk.ts";

interface NameSearch {
  readonly path: string;
  readonly pattern: string;
  readonly excludePatterns: readonly string[];
  readonly type: "file" | "directory" | "any";
  /** Shows what ignore rules hide; `.git` stays hidden. */
  readonly include_ignored: boolean;
  /** `mtime` and `size` put the newest and the largest first, `oldest` the oldest. */
  readonly sort: "path" | "mtime" | "oldest" | "size";
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the number of entries that were visited. */
  readonly progress?: Report;
}

const BUDGET_MS = 20_000;

/**
 * Finds files and directories below `path` whose name or path matches a glob, in pages. Links are included, not
 * followed.
 *
 * @returns on the first page also the `total` of all matches, if the search finished, and how many entries are `hidden`
 * by ignore rules, where a hidden directory counts once. A match has the `size` or time that it is sorted by.
 * @throws ToolError `invalid` for a glob or cursor that cannot be used, `timeout` if a search that needs all results
 * first (sorted by time or size) took too long.
 */
export async function searchNames(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  request: NameSearch,
) {
  const {
    pattern,
    type: wanted,
    include_ignored,
    sort,
    limit,
    signal,
    budgetMs = BUDGET_MS,
  } = request;
  const glob = compileGlob(pattern);
  const exclude = compileExclusion(request.excludePatterns);
  const byPath = sort === "path";
  return withDirectory(guard, request.path, async (root) => {
    const query = [root.realPath, pattern, request.excludePatterns, wanted, include_ignored, sort];
    const page = keyedPage("search_files", query, request, comparePaths);
    const isFirst = page.after === undefined;
    let total = 0;
    let links = 0;
    const done = reporter(request.progress);
    const visit = ({ path, name, type, parent }: Met): "stop" | undefined => {
      done(1);
      if (wanted !== "any" && type !== wanted && type !== "link") return undefined;
      if (!glob.matches(path, name, type === "directory")) return undefined;
      if (wanted !== "any" && type === "link") {
        links += 1;
        return undefined;
      }
      const stat = byPath ? undefined : statOf(parent.entry(name));
      if (stat === undefined && !byPath) return undefined;
      total += 1;
      page.add({ path, type, key: keyOf(sort, type, stat) });
      // The first page counts everything; later ones stop when full.
      return !isFirst && byPath && total > limit ? "stop" : undefined;
    };
    const ignore = include_ignored ? undefined : await ignoreRules(guard, root, ignored);
    const after = byPath ? page.after?.path : undefined;
    const report = await walk(guard, root, { signal, budgetMs, exclude, ignore, after }, visit);
    await root.verify();
    const isLate = report.ended === "late";
    if (isLate && !byPath) {
      const message = `The search did not finish within ${budgetMs / 1000} s, and sorting by ${sort} needs all results.`;
      throw failure("names_too_slow", message);
    }
    const described = page.take().map(({ path, type, key }) => {
      return {
        path: join(root.path, path),
        type,
        ...(sort === "mtime" ? { modified: new Date(key).toISOString() } : {}),
        ...(sort === "oldest" ? { modified: new Date(-key).toISOString() } : {}),
        ...(sort === "size" && type === "file" ? { size: key } : {}),
      };
    });
    // The cursor contains a path as well, in a longer form.
    const reserved = 2 * Math.max(0, ...described.map(({ path }) => path.length));
    const { shown, next } = page.cut(described, request.budget - reserved);
    const resume =
      next ?? (isLate && report.last !== undefined ? page.cursorAt(report.last) : undefined);
    const isHidden = isFirst && report.hidden > 0 && !include_ignored;
    const notes: string[] = [];
    if (isLate) {
      const at = JSON.stringify(oneLine(clip(report.last ?? "", 200)));
      notes.push(`The search ran out of time at ${at}; continue from there with next_cursor.`);
    }
    if (isHidden) {
      const entries = counted(report.hidden, "entry is", "entries are");
      notes.push(
        `${entries} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`,
      );
    }
    if (isFirst && links > 0)
      notes.push(
        `${counted(links, "matching symlink is", "matching symlinks are")} left out; type="any" includes them.`,
      );
    if (isFirst && report.unreadable > 0) {
      notes.push(`${grouped(report.unreadable)} directories could not be read.`);
    }
    const isComplete = isFirst && report.ended === "complete";
    if (isComplete && total === 0 && !glob.hasWildcard) {
      notes.push(
        `The pattern has no wildcard and matches only this exact name; "*${pattern}*" matches names that contain it.`,
      );
    }
    return {
      matches: shown,
      ...(isComplete ? { total } : {}),
      ...(isHidden ? { hidden: report.hidden } : {}),
      ...(resume === undefined ? {} : { next_cursor: resume }),
      ...(notes.length > 0 ? { notes } : {}),
    };
  });
}

/**
 * One path per line, preceded by the time or size if sorted by it; directories have a trailing slash. The last line, in
 * square brackets, is the server's own.
 */
export function namesAnswer(found: Awaited<ReturnType<typeof searchNames>>): string {
  const lines = found.matches.map(({ path, type, size, modified }) => {
    const key = modified ?? size;
    return `${key === undefined ? "" : `${key} `}${oneLine(path)}${type === "directory" ? "/" : ""}\n`;
  });
  const total = found.total === undefined ? [] : [`${counted(found.total, "match", "matches")}.`];
  const facts = [...total, ...more(found)].join(" ");
  return `${lines.join("")}[${facts === "" ? "The end." : facts}]`;
}

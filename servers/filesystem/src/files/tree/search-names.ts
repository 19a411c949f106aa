import { join } from "node:path";
import { statOf } from "@refmcp/boundary";
import { clip, digits, oneLine } from "@refmcp/boundary/answer";
import { counted, failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { withDirectory } from "../open-path.ts";
import { compileExclusion, compileGlob } from "../search/glob.ts";
import { ignoreRules } from "../search/ignore.ts";
import { type Keyed, keyedPage, keyOf } from "./pages.ts";
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
  /** `mtime` and `size` put the newest and the largest first. */
  readonly sort: "path" | "mtime" | "size";
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
 * Finds files and directories below `path` whose name or path matches a glob, in pages: one path per line, preceded by
 * the time or size if sorted by it; directories have a trailing slash. Links are included, not followed. The last line,
 * in square brackets, is the server's own; on the first page it has the total, and what was left out.
 *
 * @throws ToolError `invalid` for a glob or cursor that cannot be used, `timeout` if a search that needs all results
 *   first (sorted by time or size) took too long.
 */
export async function searchNames(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  request: NameSearch,
): Promise<string> {
  const { pattern, excludePatterns, type: wanted, include_ignored, sort, limit, signal } = request;
  const { budgetMs = BUDGET_MS } = request;
  const glob = compileGlob(pattern);
  const exclude = compileExclusion(excludePatterns);
  const byPath = sort === "path";
  return withDirectory(guard, request.path, async (root) => {
    const query = [root.realPath, pattern, excludePatterns, wanted, include_ignored, sort];
    const page = keyedPage("search_files", query, request, comparePaths);
    const isFirst = page.after === undefined;
    let [total, links] = [0, 0];
    const done = reporter(request.progress);
    const visit = ({ path, name, type, parent }: Met): "stop" | undefined => {
      done(1);
      const isLink = wanted !== "any" && type === "link";
      if (wanted !== "any" && type !== wanted && !isLink) return undefined;
      if (!glob.matches(path, name, type === "directory")) return undefined;
      const stat = byPath || isLink ? undefined : statOf(parent.entry(name));
      if (isLink) links += 1;
      if (isLink || (stat === undefined && !byPath)) return undefined;
      total += 1;
      page.add({ path, type, key: keyOf(sort, type, stat) });
      // The first page counts everything; later ones stop when full.
      return !isFirst && byPath && total > limit ? "stop" : undefined;
    };
    const ignore = include_ignored ? undefined : await ignoreRules(guard, root, ignored);
    const after = byPath ? page.after?.path : undefined;
    const report = await walk(guard, root, { signal, budgetMs, exclude, ignore, after }, visit);
    await root.verify();
    const { ended, last = "", hidden, unreadable } = report;
    const isLate = ended === "late";
    if (isLate && !byPath) {
      const message = `The search did not finish within ${budgetMs / 1000} s, and sorting by ${sort} needs all results.`;
      throw failure("names_too_slow", message);
    }
    const lines = page.take().map((entry) => lineOf(root.path, sort, entry));
    // The cursor contains a path as well, in a longer form.
    const reserved = 2 * Math.max(0, ...lines.map(({ length }) => length));
    const resume = isLate && last !== "" ? last : undefined;
    const { part, more } = page.cut(lines, request.budget - reserved, resume);
    const isComplete = isFirst && ended === "complete";
    const facts = [
      isComplete && `${counted(total, "match", "matches")}.`,
      ...more,
      isLate && `The search ran out of time at ${JSON.stringify(oneLine(clip(last, 200)))}.`,
      isFirst &&
        hidden > 0 &&
        !include_ignored &&
        `${counted(hidden, "entry is", "entries are")} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`,
      isFirst &&
        links > 0 &&
        `${counted(links, "matching symlink is", "matching symlinks are")} left out; type="any" includes them.`,
      isFirst && unreadable > 0 && `${digits(unreadable)} directories could not be read.`,
      isComplete &&
        total === 0 &&
        !glob.hasWildcard &&
        `The pattern has no wildcard and matches only this exact name; "*${pattern}*" matches names that contain it.`,
    ].filter((fact) => fact !== false);
    return `${part.join("")}[${facts.length === 0 ? "The end." : facts.join(" ")}]`;
  });
}

function lineOf(root: string, sort: NameSearch["sort"], { path, type, key }: Keyed): string {
  const time = sort === "mtime" ? `${new Date(key).toISOString()} ` : "";
  const size = sort === "size" && type === "file" ? `${key} ` : "";
  return `${time}${size}${oneLine(join(root, path))}${type === "directory" ? "/" : ""}\n`;
}

import { type Deadline, type GuardedDirectory, type PathGuard, startDeadline } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { compileGlob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { directoryAt, withFile } from "../open-path.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import { comparePaths, TopItems } from "../tree/path-order.ts";
import { findFiles } from "./find-files.ts";
import { DONE, type PageRequest, type TextPage, textPages } from "./result-pages.ts";
import { type TextPattern, textPattern } from "./text-pattern.ts";

export interface TextSearch extends PageRequest {
  /** A directory or a single file. */
  readonly path: string;
  readonly pattern: string;
  /** Matches the pattern literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  /** Which files to search; all if omitted. */
  readonly glob?: string | undefined;
  readonly includeIgnored: boolean;
  /** Time limit in milliseconds; default 40 s. */
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

export interface TextFound extends TextPage {
  /** Over all pages; absent on later pages. */
  total_files?: number;
  total_lines?: number;
  notes?: string[];
}

const BUDGET_MS = 40_000;

/**
 * Searches the text of files in threads, which are terminated if they take too long. The threads find the files; what
 * is shown is then read again, with each file opened through the guard.
 *
 * @param ignored patterns of the `--ignore` option.
 */
export function textSearcher(guard: PathGuard, ignored: readonly string[]) {
  const pool = new ThreadPool();

  async function searchFile(request: TextSearch, pattern: TextPattern, signal: AbortSignal) {
    const { realPath, path } = await withFile(guard, request.path, async ({ realPath, path }) => ({
      realPath,
      path,
    }));
    const pages = textPages({ guard, pool, realPath, path }, request, pattern, [], signal);
    const page = await pages.show([""], false);
    if (pages.after !== undefined) return page;
    return { ...page, total_files: pages.total > 0 ? 1 : 0, total_lines: pages.total };
  }

  async function searchDirectory(
    root: GuardedDirectory,
    request: TextSearch,
    pattern: TextPattern,
    { signal, abort }: Pick<Deadline, "signal" | "abort">,
  ): Promise<TextFound> {
    const { includeIgnored, glob: globText, limit } = request;
    const glob = globText === undefined ? undefined : compileGlob(globText);
    const place = { guard, pool, realPath: root.realPath, path: root.path };
    const pages = textPages(place, request, pattern, [globText, includeIgnored], signal);
    const ignore = includeIgnored ? undefined : await IgnoreScope.above(guard, root, ignored);
    const candidates = new TopItems<string>(limit + 1, comparePaths);
    let files = 0;
    let lines = 0;
    await findFiles(pool, { guard, root, pattern, glob, ignore, signal, abort }, (file) => {
      files += 1;
      lines += file.lines;
      const order = pages.after === undefined ? 1 : comparePaths(file.path, pages.after[0]);
      // The cursor's file may have more lines.
      if (order > 0 || (order === 0 && pages.after?.[1] !== DONE)) candidates.add(file.path);
    });
    await root.verify();
    const paths = candidates.take();
    const page = await pages.show(paths.slice(0, limit), paths.length > limit);
    if (pages.after !== undefined) return page;
    const hint = "Ignored files were not searched; include_ignored=true includes them.";
    return {
      ...page,
      total_files: files,
      total_lines: lines,
      ...(files === 0 && !includeIgnored ? { notes: [hint] } : {}),
    };
  }

  return {
    /**
     * @throws ToolError `invalid` for a pattern, glob or cursor that cannot be used, `timeout`, and what the guard
     *   throws.
     */
    async search(request: TextSearch): Promise<TextFound> {
      const { literal, ignoreCase, budgetMs = BUDGET_MS } = request;
      const pattern = textPattern(request.pattern, { literal, ignoreCase });
      const deadline = startDeadline(budgetMs, request.signal, () => tooLate(budgetMs));
      try {
        deadline.signal.throwIfAborted();
        const directory = await directoryAt(guard, request.path);
        if (directory === undefined) return await searchFile(request, pattern, deadline.signal);
        return await searchDirectory(directory, request, pattern, deadline).finally(() => directory.close());
      } finally {
        deadline.end();
      }
    },
    close: () => pool.close(),
  };
}

function tooLate(budgetMs: number): ToolError {
  return new ToolError("timeout", `The search did not finish within ${budgetMs / 1000} s.`, {
    hint: "Search a subdirectory or fewer files (path, glob), or use a simpler pattern.",
  });
}

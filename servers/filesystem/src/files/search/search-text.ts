import { ToolError } from "@refmcp/core/answer";
import { type Deadline, type GuardedDirectory, type PathGuard, startDeadline } from "@refmcp/core/boundary";
import { compileGlob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { directoryAt } from "../open-path.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import { comparePaths, TopItems } from "../tree/path-order.ts";
import { type FileWithLines, findFiles } from "./find-files.ts";
import { DONE, type PageRequest, type TextPage, TextPages, type TextPosition } from "./result-pages.ts";
import { type TextPattern, textPattern } from "./text-pattern.ts";

export interface TextSearch extends PageRequest {
  /** A directory or a single file. */
  readonly path: string;
  readonly pattern: string;
  /** Matches the pattern literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  /** Which files to search; all without it. */
  readonly glob?: string | undefined;
  readonly includeIgnored: boolean;
  /** How long to search, in milliseconds; default 40 s. */
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
 * Searches the text of files, in threads that are terminated if they take too long. They find the files first; what is
 * shown is then read again, each file opened through the guard.
 */
export class TextSearcher {
  readonly #guard: PathGuard;
  readonly #ignored: readonly string[];
  readonly #pool = new ThreadPool();

  /** @param ignored patterns of the `--ignore` option. */
  constructor(guard: PathGuard, ignored: readonly string[]) {
    this.#guard = guard;
    this.#ignored = ignored;
  }

  /**
   * @throws ToolError `invalid` for a pattern, glob or cursor that cannot be used, `timeout`, and what the guard throws.
   */
  async search(request: TextSearch): Promise<TextFound> {
    const { literal, ignoreCase } = request;
    const pattern = textPattern(request.pattern, { literal, ignoreCase });
    const budgetMs = request.budgetMs ?? BUDGET_MS;
    const { signal, abort, end } = startDeadline(budgetMs, request.signal, () => tooLate(budgetMs));
    try {
      signal.throwIfAborted();
      const directory = await directoryAt(this.#guard, request.path);
      if (directory === undefined) return await this.#searchFile(request, pattern, signal);
      try {
        return await this.#searchDirectory(directory, request, pattern, { signal, abort });
      } finally {
        await directory.close();
      }
    } finally {
      end();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #searchFile(request: TextSearch, pattern: TextPattern, signal: AbortSignal): Promise<TextFound> {
    const file = await this.#guard.openFile(request.path);
    await file.handle.close();
    const place = { guard: this.#guard, pool: this.#pool, realPath: file.realPath, path: file.path };
    const pages = new TextPages(place, request, pattern, [], signal);
    const page = await pages.show([""], false);
    if (pages.after !== undefined) return page;
    return { ...page, total_files: pages.total > 0 ? 1 : 0, total_lines: pages.total };
  }

  async #searchDirectory(
    root: GuardedDirectory,
    request: TextSearch,
    pattern: TextPattern,
    { signal, abort }: Pick<Deadline, "signal" | "abort">,
  ): Promise<TextFound> {
    const guard = this.#guard;
    const { includeIgnored, glob: globText, limit } = request;
    const glob = globText === undefined ? undefined : await compileGlob(globText);
    const place = { guard, pool: this.#pool, realPath: root.realPath, path: root.path };
    const pages = new TextPages(place, request, pattern, [globText, includeIgnored], signal);
    const ignore = includeIgnored ? undefined : await IgnoreScope.above(guard, root, this.#ignored);
    const found = new Candidates(limit + 1, pages.after);
    const search = { guard, root, pattern, glob, ignore, signal, abort };
    await findFiles(this.#pool, search, (file) => found.add(file));
    await root.verify();
    const paths = found.top.take().map(({ path }) => path);
    const page = await pages.show(paths.slice(0, limit), paths.length > limit);
    if (pages.after !== undefined) return page;
    const hint = "Ignored files were not searched; include_ignored=true includes them.";
    return {
      ...page,
      total_files: found.files,
      total_lines: found.lines,
      ...(found.files === 0 && !includeIgnored ? { notes: [hint] } : {}),
    };
  }
}

/** Counts what is found and keeps what the page may show. */
class Candidates {
  readonly top: TopItems<FileWithLines>;
  files = 0;
  lines = 0;
  readonly #after: TextPosition | undefined;

  constructor(count: number, after: TextPosition | undefined) {
    this.top = new TopItems<FileWithLines>(count, (a, b) => comparePaths(a.path, b.path));
    this.#after = after;
  }

  add(file: FileWithLines): void {
    this.files += 1;
    this.lines += file.lines;
    if (this.#after !== undefined) {
      const [path, line] = this.#after;
      const order = comparePaths(file.path, path);
      // The cursor's file may have more lines.
      if (order < 0 || (order === 0 && line === DONE)) return;
    }
    this.top.add(file);
  }
}

function tooLate(budgetMs: number): ToolError {
  return new ToolError("timeout", `The search did not finish within ${budgetMs / 1000} s.`, {
    hint: "Search a subdirectory or fewer files (path, glob), or use a simpler pattern.",
  });
}

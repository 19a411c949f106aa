import { join } from "node:path";
import {
  type Deadline,
  type GuardedDirectory,
  type PathGuard,
  startDeadline,
} from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { documentKind } from "@refmcp/documents/kinds";
import { compileGlob } from "../glob/glob.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { counted, failure } from "../messages.ts";
import { directoryAt, orRefused, withFile } from "../open-path.ts";
import type { Documents } from "../read/documents.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import { comparePaths, TopItems } from "../tree/path-order.ts";
import { type Report, reporter } from "../tree/reporter.ts";
import { walk } from "../tree/walk.ts";
import { FileBatch } from "./file-batch.ts";
import { COUNT } from "./line-extract.ts";
import { DONE, type PageRequest, type TextFound, textPages } from "./result-pages.ts";
import { type TextPattern, textPattern } from "./text-pattern.ts";

export interface TextSearch extends PageRequest {
  readonly path: string;
  readonly pattern: string;
  /** Matches the pattern literally, not as a regular expression. */
  readonly literal: boolean;
  readonly ignore_case: boolean;
  /** Which files to search; all if omitted. */
  readonly glob?: string | undefined;
  readonly include_ignored: boolean;
  readonly budgetMs?: number;
  /** After this time, only documents whose text is in memory are searched. */
  readonly documentsMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the number of files that were searched. */
  readonly progress?: Report;
}

const BUDGET_MS = 40_000;
const DOCUMENTS_MS = 25_000;
/** The names of documents that could not be read are shown up to this many. */
const MAX_UNREAD = 5;
/** How many batches may wait for a thread before the walk pauses. */
const WAITING = 4;

/**
 * Searches the text of files in threads, which are terminated if they take too long. The threads find the files; what
 * is shown is then read again, with each file opened through the guard. Documents are searched as text.
 *
 * @param ignored patterns of the `--ignore` option.
 */
export function textSearcher(guard: PathGuard, ignored: readonly string[], documents: Documents) {
  const pool = new ThreadPool();

  async function searchFile(
    request: TextSearch,
    pattern: TextPattern,
    signal: AbortSignal,
  ): Promise<TextFound> {
    const place = await withFile(guard, request.path, async ({ realPath, path }) => ({
      realPath,
      path,
    }));
    const pages = textPages({ guard, pool, documents, ...place }, request, pattern, [], signal);
    const page = await pages.show([""], false);
    if (pages.after !== undefined) return page;
    return { ...page, total_files: pages.total > 0 ? 1 : 0, total_lines: pages.total };
  }

  async function searchDirectory(
    root: GuardedDirectory,
    request: TextSearch,
    pattern: TextPattern,
    deadline: Deadline,
  ): Promise<TextFound> {
    const { include_ignored, glob, limit } = request;
    const place = { guard, pool, documents, realPath: root.realPath, path: root.path };
    const isWanted = glob === undefined ? undefined : compileGlob(glob);
    const pages = textPages(place, request, pattern, [glob, include_ignored], deadline.signal);
    const ignore = include_ignored ? undefined : await IgnoreScope.above(guard, root, ignored);
    const candidates = new TopItems<string>(limit + 1, comparePaths);
    const total = { files: 0, lines: 0 };
    const unread: string[] = [];
    const later: string[] = [];
    const select = (path: string, name: string) => isWanted?.matches(path, name, false) !== false;
    const documentsEnd = performance.now() + (request.documentsMs ?? DOCUMENTS_MS);
    const isLate = () => performance.now() >= documentsEnd;
    const done = reporter(request.progress);
    const search = { root, pattern, select, ignore, unread, later, isLate, done };
    const skipped = await findFiles({ ...search, ...deadline }, (path, lines) => {
      total.files += 1;
      total.lines += lines;
      const order = pages.after === undefined ? 1 : comparePaths(path, pages.after[0]);
      // The cursor's file may have more lines.
      if (order > 0 || (order === 0 && pages.after?.[1] !== DONE)) candidates.add(path);
    });
    await root.verify();
    const paths = candidates.take();
    const page = await pages.show(paths.slice(0, limit), paths.length > limit);
    if (pages.after !== undefined) return page;
    const hint = "Ignored files were not searched; include_ignored=true includes them.";
    const notes = [
      ...(total.files === 0 && skipped.ignored > 0 ? [hint] : []),
      ...(skipped.links > 0
        ? [
            `${counted(skipped.links, "symlink was", "symlinks were")} not followed; give one as path to search its target.`,
          ]
        : []),
      ...(unread.length > 0
        ? [documentsNote(unread, "could not be read; read_text_file says why")]
        : []),
      ...(later.length > 0
        ? [documentsNote(later, "not searched yet; repeat the call to continue")]
        : []),
    ];
    const totals = { total_files: total.files, total_lines: total.lines };
    return { ...page, ...totals, ...(notes.length > 0 ? { notes } : {}) };
  }

  /**
   * Finds the files of a tree with matching lines, in any order.
   *
   * @param request.ignore the ignore rules that apply at `root`; undefined to search ignored files too.
   * @param request.unread gets the paths of documents that cannot be converted to text.
   * @param request.later gets the paths of documents that are left for another search, once it `isLate`.
   * @param request.abort aborts the signal, so that nothing continues after a failure.
   * @param found gets a path below the root, and the number of matching lines.
   * @returns what was not searched: ignored entries, and selected links.
   * @throws the error of a thread.
   */
  async function findFiles(
    request: {
      root: GuardedDirectory;
      pattern: TextPattern;
      select: (path: string, name: string) => boolean;
      ignore: IgnoreScope | undefined;
      unread: string[];
      later: string[];
      isLate: () => boolean;
      done: (files: number) => void;
    } & Pick<Deadline, "signal" | "abort">,
    found: (path: string, lines: number) => void,
  ): Promise<{ ignored: number; links: number }> {
    const { root, pattern, select, ignore, unread, later, isLate, done, signal, abort } = request;
    const running = new Set<Promise<void>>();
    let batch = new FileBatch();

    async function count(files: FileBatch, start = 0): Promise<void> {
      const { paths } = files;
      const nameOf = (file: number) => join(root.realPath, paths[start + file] ?? "");
      const work = { pattern, files: files.text(start) };
      const { done: searched, found: counts } = await pool.run("count", work, signal, nameOf);
      done(searched);
      for (let at = 0; at < counts.length; at += 2) {
        const [index = 0, lines = 0] = counts.slice(at, at + 2);
        const path = paths[start + index];
        if (path !== undefined) found(path, lines);
      }
      // Other calls got their turn in between.
      if (start + searched < paths.length) await count(files, start + searched);
    }

    /** @param file a batch of this file only. */
    async function countDocument(file: FileBatch): Promise<void> {
      signal.throwIfAborted();
      const [path = ""] = file.paths;
      const expected = join(root.realPath, path);
      const opened = await guard.openFile(expected).catch(orRefused);
      try {
        if (opened?.realPath !== expected) return;
        if (isLate() && !documents.has(opened)) {
          later.push(path);
          return;
        }
        const document = await documents.textOf(opened, { signal }).catch((error: unknown) => {
          if (!(error instanceof ToolError) || signal.aborted) throw error;
          unread.push(path);
          return null;
        });
        // What only has the name of a document is searched as any other file.
        if (document === undefined) return await count(file);
        if (document === null) return;
        done(1);
        const { bytes, marks } = document;
        const work = { pattern, from: { bytes, marks }, path: expected, extract: COUNT };
        const { total } = await pool.run("extract", work, signal);
        if (total > 0) found(path, total);
      } finally {
        await opened?.handle.close();
      }
    }

    /** Documents take turns, since each one is open while it waits for its text. */
    const turns: Promise<void>[] = Array.from({ length: pool.width }, () => Promise.resolve());
    let next = 0;
    function countInTurn(file: FileBatch): Promise<void> {
      next = (next + 1) % turns.length;
      const count = (turns[next] ?? Promise.resolve()).then(() => countDocument(file));
      turns[next] = count.catch(() => {});
      return count;
    }

    function send(): void {
      start(batch, count);
      batch = new FileBatch();
    }

    function start(files: FileBatch, work: (files: FileBatch) => Promise<void>): void {
      const job = work(files)
        .catch(abort)
        .finally(() => files.release());
      running.add(job);
      void job.then(() => running.delete(job));
    }

    // Returned so that the walk waits if the threads are behind.
    const rest = () => (running.size >= pool.width + WAITING ? Promise.race(running) : undefined);
    let links = 0;
    let ignored = 0;
    try {
      const report = await walk(guard, root, { signal, ignore, rest }, (met) => {
        const { path, name, type } = met;
        if (type === "link" && select(path, name)) links += 1;
        if (type !== "file" || !select(path, name)) return signal.aborted ? "stop" : undefined;
        const isDocument = documentKind(name) !== undefined;
        const files = isDocument ? new FileBatch() : batch;
        files.add(met);
        if (isDocument) start(files, countInTurn);
        else if (batch.isFull) send();
        return signal.aborted ? "stop" : undefined;
      });
      ({ ignored } = report);
      if (!batch.isEmpty && !signal.aborted) send();
    } finally {
      batch.release();
      // The threads use the descriptors of directories, so they must end before those are closed.
      await Promise.all(running);
    }
    signal.throwIfAborted();
    return { ignored, links };
  }

  return {
    /**
     * @throws ToolError `invalid` for a pattern, glob or cursor that cannot be used, `timeout`, and what the guard
     *   throws.
     */
    async search(request: TextSearch): Promise<TextFound> {
      const { literal, ignore_case, budgetMs = BUDGET_MS } = request;
      const pattern = textPattern(request.pattern, {
        literal,
        ignoreCase: ignore_case,
        exact: request.mode === "matches",
      });
      const tooLate = () =>
        failure("search_too_slow", `The search did not finish within ${budgetMs / 1000} s.`);
      const deadline = startDeadline(budgetMs, request.signal, tooLate);
      try {
        deadline.signal.throwIfAborted();
        const directory = await directoryAt(guard, request.path);
        if (directory === undefined) return await searchFile(request, pattern, deadline.signal);
        return await searchDirectory(directory, request, pattern, deadline).finally(() =>
          directory.close(),
        );
      } finally {
        deadline.end();
      }
    },
    close: () => pool.close(),
  };
}

/** A note about documents that were not searched. */
function documentsNote(paths: readonly string[], why: string): string {
  const shown = [...paths].sort(comparePaths).slice(0, MAX_UNREAD).map(oneLine).join(", ");
  const more = paths.length > MAX_UNREAD ? ", …" : "";
  return `${counted(paths.length, "document")} ${why}: ${shown}${more}.`;
}

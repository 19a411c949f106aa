import { join } from "node:path";
import { type Deadline, type GuardedDirectory, startDeadline } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { documentKind } from "@refmcp/documents/kinds";
import { failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { directoryAt, orRefused } from "../open-path.ts";
import { FileBatch } from "../threads/file-batch.ts";
import { comparePaths, TopItems } from "../tree/path-order.ts";
import { reporter } from "../tree/reporter.ts";
import { type Met, walk } from "../tree/walk.ts";
import {
  DONE,
  type FoundFile,
  notesOf,
  nothingLeftOut,
  pageOf,
  type TextMatches,
} from "./answer.ts";
import { compileGlob } from "./glob.ts";
import { ignoreRules } from "./ignore.ts";
import {
  cursorsFor,
  matchRequest,
  searchFile,
  searchOpened,
  type TextSearch,
} from "./search-file.ts";
import { type TextPattern, textPattern } from "./text-pattern.ts";

const BUDGET_MS = 40_000;
const DOCUMENTS_MS = 25_000;
/** How many batches may wait for a thread before the walk pauses. */
const WAITING = 4;

/**
 * Searches the text of files in threads, which are terminated if they take too long. Documents are searched as text,
 * symlinks inside the allowed directories by their target.
 *
 * @throws ToolError `invalid` for a pattern, glob or cursor that cannot be used, `timeout`, and what the guard throws
 */
export async function searchText(files: Files, request: TextSearch): Promise<TextMatches> {
  const { literal, ignore_case: ignoreCase, budgetMs = BUDGET_MS } = request;
  const pattern = textPattern(request.pattern, { literal, ignoreCase });
  const late = () =>
    failure("search_too_slow", `The search did not finish within ${budgetMs / 1000} s.`);
  const deadline = startDeadline(budgetMs, request.signal, late);
  try {
    deadline.signal.throwIfAborted();
    const directory = await directoryAt(files.guard, request.path);
    if (directory === undefined) return await searchFile(files, request, pattern, deadline.signal);
    return await searchDirectory(files, directory, request, pattern, deadline).finally(() =>
      directory.close(),
    );
  } finally {
    deadline.end();
  }
}

async function searchDirectory(
  files: Files,
  root: GuardedDirectory,
  request: TextSearch,
  pattern: TextPattern,
  deadline: Deadline,
): Promise<TextMatches> {
  const { guard, threads, documents } = files;
  const { include_ignored, glob, limit, documentsMs = DOCUMENTS_MS } = request;
  const { signal } = deadline;
  const { after, encode } = cursorsFor(root.realPath, request, pattern);
  const isWanted = glob === undefined ? undefined : compileGlob(glob);
  const documentsEnd = performance.now() + documentsMs;
  const done = reporter(request.progress);
  const top = new TopItems<FoundFile>(limit + 1, (a, b) => comparePaths(a.path, b.path));
  const totals = { total_files: 0, total_lines: 0 };
  const unsearched = nothingLeftOut();
  /** Documents, links and the file of the cursor, which are opened through the guard. */
  const singles: Pick<Met, "path" | "type">[] = [];
  const running = new Set<Promise<void>>();
  let batch = new FileBatch();

  const add = (file: FoundFile) => {
    totals.total_files += 1;
    totals.total_lines += file.total;
    top.add(file);
  };
  const flush = () => {
    const full = batch;
    batch = new FileBatch();
    const job = searchBatch(full)
      .finally(() => full.release())
      .catch((error: unknown) => deadline.abort(error));
    running.add(job);
    void job.then(() => running.delete(job));
  };
  const visit = (met: Met): "stop" | undefined => {
    const { path, name, type } = met;
    const order = after === undefined ? 1 : comparePaths(path, after.path);
    const isDone = order < 0 || (order === 0 && after?.line === DONE);
    const isExcluded = isDone || isWanted?.matches(path, name, false) === false;
    if (!isExcluded && (type === "file" || type === "link")) {
      const kind = documentKind(name);
      if (kind === "zip") unsearched.archives += 1;
      // What the cursor's file has before its line was shown.
      if (type === "link" || kind !== undefined || order === 0) singles.push({ path, type });
      else batch.add(met);
      if (batch.isFull) flush();
    }
    return signal.aborted ? "stop" : undefined;
  };
  // The walk waits if the threads are behind.
  const rest = () => (running.size >= threads.width + WAITING ? Promise.race(running) : undefined);
  try {
    const ignore = include_ignored ? undefined : await ignoreRules(guard, root, files.ignored);
    const report = await walk(guard, root, { signal, ignore, rest }, visit);
    unsearched.ignored = report.ignored;
    unsearched.unreadable += report.unreadable;
    flush();
  } finally {
    // The threads use the descriptors of directories, so they must end before those are closed.
    batch.release();
    while (running.size > 0) await Promise.all(running);
  }
  signal.throwIfAborted();
  await Promise.all(Array.from({ length: threads.width }, searchSingles));
  await root.verify();
  const matches = top.take();
  const page = pageOf(
    matches.slice(0, limit),
    { ...request, base: root.path, files },
    encode,
    matches.length > limit,
  );
  if (after !== undefined) return page;
  return { ...page, ...totals, ...notesOf(unsearched, totals.total_files === 0) };

  async function searchBatch({ paths, directories }: FileBatch): Promise<void> {
    const work = { pattern, directories, request: matchRequest(request) };
    const nameOf = (index: number) => join(root.realPath, paths[index] ?? "");
    const { hits, binary, unreadable, mails } = await threads.run("search", work, signal, nameOf);
    unsearched.binary += binary;
    unsearched.unreadable += unreadable;
    for (const index of mails) singles.push({ path: paths[index] ?? "", type: "file" });
    done(paths.length - mails.length);
    for (const { index, ...matches } of hits) add({ path: paths[index] ?? "", ...matches });
  }

  async function searchSingles(): Promise<void> {
    for (let single = singles.pop(); single !== undefined; single = singles.pop()) {
      signal.throwIfAborted();
      await searchSingle(single);
      done(1);
    }
  }

  async function searchSingle({ path, type }: Pick<Met, "path" | "type">): Promise<void> {
    const at = join(root.realPath, path);
    const file = await guard.openFile(at).catch(orRefused);
    if (file === undefined) {
      // It leads to a directory, outside or nowhere.
      if (type === "link") unsearched.links += 1;
      return;
    }
    try {
      if (type !== "link" && file.realPath !== at) return;
      const isLate = performance.now() >= documentsEnd && documentKind(file.path) !== undefined;
      if (isLate && !documents.has(file)) return void unsearched.later.push(path);
      const line = after?.path === path ? after.line : 0;
      const wanted = { pattern, request: matchRequest(request, line + 1) };
      const { isBinary, ...matches } = await searchOpened(files, file, wanted, signal);
      if (isBinary) unsearched.binary += 1;
      if (matches.total > 0) add({ path, ...matches });
    } catch (error) {
      if (!(error instanceof ToolError) || signal.aborted || error.kind === "timeout") throw error;
      unsearched.unread.push(path);
    } finally {
      await file.handle.close();
    }
  }
}

import { join } from "node:path";
import { type Deadline, type GuardedDirectory, startDeadline } from "@refmcp/boundary";
import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import { documentKind, partAt } from "@refmcp/documents/kinds";
import * as z from "zod";
import { counted, failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { directoryAt, orRefused, withFile } from "../open-path.ts";
import { FileBatch } from "../threads/file-batch.ts";
import { comparePaths, TopItems } from "../tree/path-order.ts";
import { reporter } from "../tree/reporter.ts";
import { type Met, walk } from "../tree/walk.ts";
import { listOf, pageOf } from "./answer.ts";
import { compileGlob } from "./glob.ts";
import { ignoreRules } from "./ignore.ts";
import type { MatchedLine, MatchRequest } from "./match-lines.ts";
import { type TextPattern, textPattern } from "./text-pattern.ts";
import { DONE, type FoundFile, type TextMatches, type TextSearch } from "./text-search.ts";

const BUDGET_MS = 40_000;
const DOCUMENTS_MS = 25_000;
const WIDTH = 300;
/** How many batches may wait for a thread before the walk pauses. */
const WAITING = 4;

const position = z.tuple([z.string(), z.number()]);

/**
 * Searches the text of files in threads, which are terminated if they take too long. Documents are searched as text,
 * symlinks inside the allowed directories by their target.
 *
 * @throws ToolError `invalid` for a pattern, glob or cursor that cannot be used, `timeout`, and what the guard throws
 */
export async function searchText(files: Files, request: TextSearch): Promise<TextMatches> {
  const { literal, ignore_case: ignoreCase, budgetMs = BUDGET_MS } = request;
  const pattern = textPattern(request.pattern, { literal, ignoreCase });
  const seconds = budgetMs / 1000;
  const late = () => failure("search_too_slow", `The search did not finish within ${seconds} s.`);
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

function cursorsFor(realPath: string, request: TextSearch, pattern: TextPattern) {
  const { mode, glob, include_ignored } = request;
  const cursors = cursorsOf(
    "search_text",
    [realPath, mode, pattern, glob, include_ignored],
    position,
  );
  const [path, line] = cursors.decode(request.cursor) ?? [];
  const after = path === undefined || line === undefined ? undefined : { path, line };
  return { after, encode: (path: string, line: number) => cursors.encode([path, line]) };
}

/** What is wanted of a file: its lines from `from` on. */
function matchRequest({ mode, context, limit, budget }: TextSearch, from = 1): MatchRequest {
  const showsLines = mode === "content" || mode === "matches";
  return {
    from,
    limit: showsLines ? limit + 1 : 0,
    context: mode === "content" ? context : 0,
    // The matches of one line always fit into an answer.
    width: mode === "matches" ? Math.max(WIDTH, Math.floor(budget / 4)) : WIDTH,
    matchesOnly: mode === "matches",
  };
}

async function searchFile(
  files: Files,
  request: TextSearch,
  pattern: TextPattern,
  signal: AbortSignal,
): Promise<TextMatches> {
  return withFile(files.guard, request.path, async (file) => {
    const { realPath, path } = file;
    const cursors = cursorsFor(realPath, request, pattern);
    const wanted = matchRequest(request, (cursors.after?.line ?? 0) + 1);
    const document = await files.documents.textOf(file, { sniff: true, signal });
    const from = document ?? file.handle.fd;
    const work = { pattern, from, path: realPath, request: wanted };
    const { lines, total } = await files.threads.run("searchOne", work, signal);
    const found = { path: "", lines: withParts(lines, document?.parts), total };
    const page = pageOf(
      total > 0 ? [found] : [],
      { ...request, base: path, files },
      cursors.encode,
    );
    if (cursors.after !== undefined) return page;
    return { ...page, total_files: total > 0 ? 1 : 0, total_lines: total };
  });
}

function withParts(
  lines: readonly MatchedLine[],
  parts: readonly { readonly name: string; readonly line: number }[] = [],
): MatchedLine[] {
  return lines.map((line) => {
    const part = partAt(parts, line.line);
    return part === undefined ? line : { ...line, part };
  });
}

async function searchDirectory(
  files: Files,
  root: GuardedDirectory,
  request: TextSearch,
  pattern: TextPattern,
  deadline: Deadline,
): Promise<TextMatches> {
  const { include_ignored, glob, limit } = request;
  const cursors = cursorsFor(root.realPath, request, pattern);
  const { after } = cursors;
  const search = new DirectorySearch({ files, root, request, pattern, deadline, after });
  const isWanted = glob === undefined ? undefined : compileGlob(glob);
  const ignore = include_ignored ? undefined : await ignoreRules(files.guard, root, files.ignored);
  const { signal } = deadline;
  const skipped = { links: 0, archives: 0 };
  let ignored = 0;
  try {
    const rest = () => search.rest();
    const report = await walk(files.guard, root, { signal, ignore, rest }, (met) => {
      const { path, name, type } = met;
      const order = after === undefined ? 1 : comparePaths(path, after.path);
      const isDone = order < 0 || (order === 0 && after?.line === DONE);
      if (isDone || type === "directory" || isWanted?.matches(path, name, false) === false)
        return signal.aborted ? "stop" : undefined;
      if (documentKind(name) === "zip") skipped.archives += 1;
      if (type === "link") search.addLink(met, () => (skipped.links += 1));
      else if (type === "file") search.add(met);
      return signal.aborted ? "stop" : undefined;
    });
    ignored = report.ignored;
    search.flush();
  } finally {
    await search.end();
  }
  signal.throwIfAborted();
  await root.verify();
  const found = search.top.take();
  const page = pageOf(
    found.slice(0, limit),
    { ...request, base: root.path, files },
    cursors.encode,
    found.length > limit,
  );
  if (after !== undefined) return page;
  const notes = notesOf(search, { ...skipped, ignored });
  const totals = { total_files: search.files, total_lines: search.lines };
  return { ...page, ...totals, ...(notes.length > 0 ? { notes } : {}) };
}

/** What was not searched. If nothing was found, it may be there. */
function notesOf(
  search: DirectorySearch,
  skipped: { links: number; archives: number; ignored: number },
): string[] {
  const { unread, later, binary } = search;
  const { links, archives, ignored } = skipped;
  const isEmpty = search.files === 0;
  const notes = [
    isEmpty &&
      ignored > 0 &&
      `${counted(ignored, "ignored entry was", "ignored entries were")} not searched; include_ignored=true includes them.`,
    isEmpty &&
      binary > 0 &&
      `${counted(binary, "binary file was", "binary files were")} not searched.`,
    isEmpty &&
      archives > 0 &&
      `Of ${counted(archives, "archive")} only the names of the entries were searched.`,
    links > 0 &&
      `${counted(links, "symlink was", "symlinks were")} not followed; give one as path to search its target.`,
    unread.length > 0 && listOf(unread, "could not be read; read_text_file says why"),
    later.length > 0 && listOf(later, "not searched yet; repeat the call to continue"),
  ];
  return notes.filter((note) => note !== false);
}

/** A file that is searched on its own. */
type Single = Pick<Met, "path" | "type"> & { readonly isMail?: boolean };

/** What a search of a directory works with. */
interface Searched {
  readonly files: Files;
  readonly root: GuardedDirectory;
  readonly request: TextSearch;
  readonly pattern: TextPattern;
  readonly deadline: Deadline;
  /** The last line that earlier pages have shown. */
  readonly after: { readonly path: string; readonly line: number } | undefined;
}

/** The files of a tree that contain a pattern. */
class DirectorySearch {
  /** The first files with matches, in order. */
  readonly top: TopItems<FoundFile>;
  files = 0;
  lines = 0;
  binary = 0;
  /** Documents that could not be converted, or were left for another call. */
  readonly unread: string[] = [];
  readonly later: string[] = [];
  readonly #of: Searched;
  readonly #running = new Set<Promise<void>>();
  /** Documents take turns, since each one is open while it waits for its text. */
  readonly #turns: Promise<void>[];
  readonly #documentsEnd: number;
  readonly #done: (count: number) => void;
  #turn = 0;
  #batch = new FileBatch();

  constructor(searched: Searched) {
    const { files, request } = searched;
    this.#of = searched;
    this.#turns = Array.from({ length: files.threads.width }, () => Promise.resolve());
    this.#documentsEnd = performance.now() + (request.documentsMs ?? DOCUMENTS_MS);
    this.#done = reporter(request.progress);
    this.top = new TopItems(request.limit + 1, (a, b) => comparePaths(a.path, b.path));
  }

  add(met: Met): void {
    // What the cursor's file has before its line was shown.
    const isAlone = documentKind(met.name) !== undefined || met.path === this.#of.after?.path;
    if (isAlone) this.#addOne(met);
    else this.#batch.add(met);
    if (this.#batch.isFull) this.flush();
  }

  /** @param onSkipped called if the link leads to a directory, outside or nowhere */
  addLink(met: Met, onSkipped: () => void): void {
    this.#addOne(met, onSkipped);
  }

  flush(): void {
    const batch = this.#batch;
    if (batch.paths.length === 0 || this.#of.deadline.signal.aborted) return;
    this.#batch = new FileBatch();
    this.#start(this.#searchBatch(batch).finally(() => batch.release()));
  }

  /** For the walk, which waits if the threads are behind. */
  rest(): Promise<void> | undefined {
    const isBehind = this.#running.size >= this.#of.files.threads.width + WAITING;
    return isBehind ? Promise.race(this.#running) : undefined;
  }

  /** The threads use the descriptors of directories, so they must end before those are closed. */
  async end(): Promise<void> {
    this.#batch.release();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(work: Promise<void>): void {
    const job = work.catch((error: unknown) => this.#of.deadline.abort(error));
    this.#running.add(job);
    void job.then(() => this.#running.delete(job));
  }

  async #searchBatch(batch: FileBatch): Promise<void> {
    const { signal } = this.#of.deadline;
    const { paths, text } = batch;
    const nameOf = (file: number) => join(this.#of.root.realPath, paths[file] ?? "");
    const work = {
      pattern: this.#of.pattern,
      files: text,
      request: matchRequest(this.#of.request),
    };
    const { found, binary, mails } = await this.#of.files.threads.run(
      "search",
      work,
      signal,
      nameOf,
    );
    this.binary += binary;
    for (const index of mails)
      this.#addOne({ path: paths[index] ?? "", type: "file", isMail: true });
    this.#done(paths.length - mails.length);
    for (const { index, lines, total } of found)
      this.#found({ path: paths[index] ?? "", lines, total });
  }

  #addOne(met: Single, onSkipped?: () => void): void {
    this.#turn = (this.#turn + 1) % this.#turns.length;
    const before = this.#turns[this.#turn] ?? Promise.resolve();
    const work = before.then(() => this.#searchOne(met, onSkipped));
    this.#turns[this.#turn] = work.catch(() => {});
    this.#start(work);
  }

  /** Searches a file that is opened through the guard: a document, a link, or a part of a file. */
  async #searchOne({ path, type, isMail = false }: Single, onSkipped?: () => void): Promise<void> {
    const { signal } = this.#of.deadline;
    signal.throwIfAborted();
    const { guard, documents, threads } = this.#of.files;
    const at = join(this.#of.root.realPath, path);
    const file = await guard.openFile(at).catch((error: unknown) => {
      onSkipped?.();
      return orRefused(error);
    });
    if (file === undefined) return;
    try {
      if (type !== "link" && file.realPath !== at) return;
      const isDocument = isMail || documentKind(file.path) !== undefined;
      if (isDocument && performance.now() >= this.#documentsEnd && !documents.has(file))
        return void this.later.push(path);
      const document = await documents
        .textOf(file, { sniff: true, signal })
        .catch((error: unknown) => {
          if (!(error instanceof ToolError) || signal.aborted) throw error;
          this.unread.push(path);
          return null;
        });
      if (document === null) return;
      const line = this.#of.after?.path === path ? this.#of.after.line : 0;
      const request = matchRequest(this.#of.request, line + 1);
      const work = {
        pattern: this.#of.pattern,
        from: document ?? file.handle.fd,
        path: at,
        request,
      };
      const { lines, total, isBinary } = await threads.run("searchOne", work, signal);
      this.#done(1);
      if (isBinary) this.binary += 1;
      if (total > 0) this.#found({ path, lines: withParts(lines, document?.parts), total });
    } finally {
      await file.handle.close();
    }
  }

  #found(file: FoundFile): void {
    this.files += 1;
    this.lines += file.total;
    this.top.add(file);
  }
}

/**
 * The thread for long operations, which never block the server and can be terminated. It has no guard and accesses only
 * what it is given: see `openScanned`.
 */
import { closeSync, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import type { DiffWork } from "../edit/diff.ts";
import type { EditWork } from "../edit/edit-text.ts";
import { type ConvertedDocument, type DocumentWork, searchable } from "../read/convert-document.ts";
import { type FileStart, startOf } from "../read/file-starts.ts";
import { filesIn } from "../search/file-batch.ts";
import { COUNT, type Extract, type ExtractRequest, extractLines } from "../search/line-extract.ts";
import {
  type Block,
  type ByteRange,
  blocksIn,
  blocksOf,
  certainlyLacks,
  readHead,
} from "../search/text-blocks.ts";
import { type LineMatcher, lineMatcher, type TextPattern } from "../search/text-pattern.ts";
import { FILE_FLAGS } from "../tree/open-below.ts";
import { PROGRESS } from "./progress.ts";

const progress: Int32Array = workerData;

function tick(file?: number): void {
  if (file !== undefined) Atomics.store(progress, PROGRESS.file, file);
  Atomics.add(progress, PROGRESS.ticks, 1);
}

interface CountWork {
  readonly pattern: TextPattern;
  /** See `FileBatch.text`; the caller keeps its directories open. */
  readonly files: string;
}

export interface ExtractWork {
  readonly pattern: TextPattern;
  /** A descriptor of this process, which the caller keeps open until the answer, or the text of a document. */
  readonly from: number | Pick<ConvertedDocument, "bytes" | "marks">;
  readonly path: string;
  readonly extract: ExtractRequest;
  readonly range?: ByteRange;
}

/** The operations of a thread. Work and answers are plain data. */
const kinds = {
  /**
   * Counts the matching lines of files; only of the first ones if other calls wait for a thread.
   *
   * @returns how many files were searched, and the index and count of each that matches.
   */
  count({ pattern, files }: CountWork): { done: number; found: number[] } {
    const matcher = matcherOf(pattern);
    const count = (fd: number) => countLines(fd, matcher);
    const found: number[] = [];
    let done = 0;
    for (const { at, names } of filesIn(files)) {
      for (const name of names) {
        tick(done);
        const lines = withScanned(at, name, count) ?? 0;
        if (lines > 0) found.push(done, lines);
        done += 1;
        if (Atomics.load(progress, PROGRESS.hurry) === 1) return { done, found };
      }
    }
    return { done, found };
  },
  /**
   * Reads the beginnings of files; only of the first ones if other calls wait for a thread.
   *
   * @param work.files see `FileBatch.text`.
   * @returns one for each file, null for one that cannot be read.
   */
  starts({ files }: { files: string }): (FileStart | null)[] {
    const starts: (FileStart | null)[] = [];
    for (const { at, names } of filesIn(files)) {
      for (const name of names) {
        starts.push(withScanned(at, name, startOf) ?? null);
        if (Atomics.load(progress, PROGRESS.hurry) === 1) return starts;
      }
    }
    return starts;
  },
  extract: (work: ExtractWork) => extract(work, matcherOf(work.pattern)),
  edit: async (work: EditWork) => (await import("../edit/edit-text.ts")).editBytes(work),
  diff: async (work: DiffWork) => (await import("../edit/diff.ts")).diffTexts(work),
  document: async (work: DocumentWork) =>
    (await import("../read/convert-document.ts")).convertDocument(work),
  picture: async (work: { bytes: Uint8Array; maxPixels: number; maxBytes: number }) =>
    (await import("../read/scale-picture.ts")).scalePicture(work),
};

type Kinds = typeof kinds;
export type Kind = keyof Kinds;
export type Work<K extends Kind> = Parameters<Kinds[K]>[0];
export type Answer<K extends Kind> = Awaited<ReturnType<Kinds[K]>>;

export interface ThreadRequest {
  readonly kind: Kind;
  readonly work: Work<Kind>;
}

/** `refusal` is a ToolError as plain data. */
export type ThreadAnswer =
  | { readonly value: Answer<Kind> }
  | { readonly refusal: Pick<ToolError, "kind" | "message" | "hint"> };

/** The number of matching lines. */
function countLines(fd: number, matcher: LineMatcher): number {
  const head = readHead(fd);
  if (certainlyLacks(fd, head, matcher.needles)) return 0;
  return extractLines(blocksOf(fd, head), matcher, COUNT).total;
}

/** Opens a file, works with it and closes it; undefined if it cannot be read. */
function withScanned<Result>(
  at: string,
  name: string,
  work: (fd: number) => Result,
): Result | undefined {
  let fd: number | undefined;
  try {
    fd = openScanned(at, name);
    return fd === undefined ? undefined : work(fd);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return undefined;
    throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Opens a file of a directory that the walk opened. On Linux, the directory's descriptor leads to it whatever happens to
 * its path, as openat(2) does; elsewhere the opened file must be the one at exactly this path, by real path and inode.
 * A link is not followed. Reads give a position, which FIFOs and terminals refuse.
 *
 * @param at path for fs calls on the directory.
 * @returns undefined if something else was opened.
 */
function openScanned(at: string, name: string): number | undefined {
  if (at.startsWith("/proc/self/fd/")) return openSync(at + name, FILE_FLAGS);
  const path = join(at, name);
  const fd = openSync(path, FILE_FLAGS);
  try {
    const opened = fstatSync(fd);
    const named = lstatSync(path);
    const isSame = named.ino === opened.ino && named.dev === opened.dev;
    if (opened.isFile() && isSame && realpathSync.native(path) === path) return fd;
  } catch {
    // It is gone, or was replaced.
  }
  closeSync(fd);
  return undefined;
}

let last: { key: string; matcher: LineMatcher } | undefined;

function matcherOf(pattern: TextPattern): LineMatcher {
  const key = JSON.stringify(pattern);
  if (last?.key === key) return last.matcher;
  const { lines, ...matcher } = lineMatcher(pattern);
  const ticking = (block: Block) => {
    tick();
    return lines(block);
  };
  last = { key, matcher: { ...matcher, lines: ticking } };
  return last.matcher;
}

/** Returns no lines if the file cannot be read. */
function extract({ from, extract: request, range }: ExtractWork, matcher: LineMatcher): Extract {
  try {
    const blocks =
      typeof from === "number" ? blocksOf(from, undefined, range) : blocksIn(searchable(from));
    return extractLines(blocks, matcher, request);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return extractLines([], matcher, request);
    throw error;
  }
}

async function answer({ kind, work }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    // The work matches this kind.
    return { value: await (kinds[kind] as (work: Work<Kind>) => Answer<Kind>)(work) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { kind, message, hint } = error;
    return { refusal: { kind, message, hint } };
  }
}

parentPort?.on("message", (request: ThreadRequest) => {
  tick(0);
  void answer(request).then((reply) => parentPort?.postMessage(reply));
});

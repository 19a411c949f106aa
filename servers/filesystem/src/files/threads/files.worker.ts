/**
 * The thread for long operations, which never block the server and can be terminated. It has no guard and accesses only
 * what it is given: see `openScanned`.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import type { DiffWork } from "../edit/diff.ts";
import type { EditWork } from "../edit/edit-text.ts";
import type { TransformWork } from "../edit/transform.ts";
import { type Extract, type ExtractRequest, extractLines } from "../search/line-extract.ts";
import type { Block } from "../search/text-blocks.ts";
import { type LineMatcher, lineMatcher, type TextPattern } from "../search/text-pattern.ts";
import { FILE_FLAGS } from "../tree/open-below.ts";
import { PROGRESS } from "./progress.ts";

const progress: Int32Array = workerData;

function tick(file?: number): void {
  if (file !== undefined) Atomics.store(progress, PROGRESS.file, file);
  Atomics.add(progress, PROGRESS.ticks, 1);
}

const COUNT: ExtractRequest = { from: 1, limit: 0, context: 0, width: 0, total: true };

interface CountWork {
  readonly pattern: TextPattern;
  /** A path for fs calls on the directory, which the caller keeps open. */
  readonly at: string;
  readonly realPath: string;
  /** Relative to the directory, with `/` between components. */
  readonly paths: readonly string[];
}

interface ExtractWork {
  readonly pattern: TextPattern;
  /** A descriptor of this process; the caller keeps it open until the answer. */
  readonly fd: number;
  readonly path: string;
  readonly extract: ExtractRequest;
}

/** The operations of a thread. Work and answers are plain data. */
const kinds = {
  /** Counts the matching lines of files below a directory; only of the first ones if other calls wait for a thread. */
  count({ pattern, at, realPath, paths }: CountWork): number[] {
    const matcher = matcherOf(pattern);
    const counts: number[] = [];
    for (const [index, path] of paths.entries()) {
      tick(index);
      const file = openScanned(at, realPath, path);
      try {
        counts.push(file === undefined ? 0 : extract(file.fd, matcher, COUNT, file.size).total);
      } finally {
        if (file !== undefined) closeSync(file.fd);
      }
      if (Atomics.load(progress, PROGRESS.hurry) === 1) break;
    }
    return counts;
  },
  extract: (work: ExtractWork) => extract(work.fd, matcherOf(work.pattern), work.extract),
  edit: async (work: EditWork) => (await import("../edit/edit-text.ts")).editBytes(work),
  transform: async (work: TransformWork) => (await import("../edit/transform.ts")).transformText(work),
  diff: async (work: DiffWork) => (await import("../edit/diff.ts")).diffTexts(work),
  pdf: async (work: { path: string; bytes: Uint8Array }) =>
    (await import("../read/pdf-text.ts")).pdfText(work),
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

/**
 * Opens a regular file below a directory that the guard opened, and verifies that it is the file at exactly this path:
 * on Linux by the kernel's path, elsewhere by real path and inode. Takes about 15 µs.
 *
 * @param at path for fs calls on the directory.
 * @returns the descriptor and the size in bytes, or undefined if the file is gone, was swapped for a link or cannot be
 *   read.
 */
function openScanned(at: string, realPath: string, path: string): { fd: number; size: number } | undefined {
  const byDescriptor = at.startsWith("/proc/self/fd/");
  let fd: number;
  try {
    fd = openSync(byDescriptor ? `${at}/${path}` : join(at, path), FILE_FLAGS);
  } catch {
    return undefined;
  }
  const size = verifiedSize(fd, byDescriptor, join(realPath, path));
  if (size !== undefined) return { fd, size };
  closeSync(fd);
  return undefined;
}

/** Undefined if something else was opened. */
function verifiedSize(fd: number, byDescriptor: boolean, expected: string): number | undefined {
  try {
    const opened = fstatSync(fd);
    if (!opened.isFile()) return undefined;
    if (byDescriptor) return readlinkSync(`/proc/self/fd/${fd}`) === expected ? opened.size : undefined;
    if (realpathSync.native(expected) !== expected) return undefined;
    const named = lstatSync(expected);
    return named.ino === opened.ino && named.dev === opened.dev ? opened.size : undefined;
  } catch {
    return undefined;
  }
}

let last: { key: string; matcher: LineMatcher } | undefined;

function matcherOf(pattern: TextPattern): LineMatcher {
  const key = JSON.stringify(pattern);
  if (last?.key === key) return last.matcher;
  const { lines, find } = lineMatcher(pattern);
  const ticking = (block: Block) => {
    tick();
    return lines(block);
  };
  last = { key, matcher: { lines: ticking, find } };
  return last.matcher;
}

/** Returns no lines if the file cannot be read. */
function extract(fd: number, matcher: LineMatcher, request: ExtractRequest, size?: number): Extract {
  try {
    return extractLines(fd, matcher, request, size);
  } catch (error) {
    if (error instanceof Error && "syscall" in error) return { lines: [], more: false, total: 0 };
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

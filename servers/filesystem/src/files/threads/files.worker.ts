/**
 * The thread for long operations, which never block the server and can be terminated. It has no guard and accesses only
 * what it is given: see `openBelow`.
 */
import { closeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { openBelow } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { kindOfStart } from "@refmcp/documents/kinds";
import type { DiffWork } from "../edit/diff.ts";
import type { EditWork } from "../edit/edit-text.ts";
import { START_BYTES } from "../read/bytes.ts";
import type { DocumentWork } from "../read/convert-document.ts";
import { type Block, blocksIn, blocksOf, readHead } from "../search/blocks.ts";
import {
  type FileMatches,
  LineMatcher,
  type MatchRequest,
  matchLines,
} from "../search/match-lines.ts";
import type { TextPattern } from "../search/text-pattern.ts";
import type { BatchDirectory } from "./file-batch.ts";

/** Shared with the pool: how much was done, and the index of the current file. */
const progress: Int32Array = workerData;

function tick(file?: number): void {
  if (file !== undefined) Atomics.store(progress, 1, file);
  Atomics.add(progress, 0, 1);
}

interface SearchWork {
  readonly pattern: TextPattern;
  /** The caller keeps them open. */
  readonly directories: readonly BatchDirectory[];
  readonly request: MatchRequest;
}

/** The matches of a batch: only of files with some. Their lines are only the first of the whole batch. */
interface BatchMatches {
  readonly hits: readonly ({ readonly index: number } & Pick<FileMatches, "lines" | "total">)[];
  readonly binary: number;
  readonly unreadable: number;
  /** Messages, whose text must be decoded first. */
  readonly mails: readonly number[];
}

interface SearchOneWork {
  readonly pattern: TextPattern;
  /** A descriptor of this process, which the caller keeps open until the answer, or the text of a document. */
  readonly from: number | Uint8Array;
  readonly path: string;
  readonly request: MatchRequest;
}

/** The operations of a thread. Work and answers are plain data. */
const kinds = {
  search({ pattern, directories, request }: SearchWork): BatchMatches {
    const matcher = matcherOf(pattern);
    const hits: { index: number; lines: FileMatches["lines"]; total: number }[] = [];
    const mails: number[] = [];
    let binary = 0;
    let limit = request.limit;
    const unreadable = forEach(directories, (fd, index) => {
      tick(index);
      const head = readHead(fd);
      if (kindOfStart(head.subarray(0, START_BYTES)) === "mail") {
        mails.push(index);
        return;
      }
      if (matcher.certainlyLacks(fd, head)) return;
      const blocks = ticking(blocksOf(fd, head));
      const { lines, total, isBinary } = matchLines(blocks, matcher, { ...request, limit });
      if (isBinary) binary += 1;
      if (total === 0) return;
      limit -= lines.length;
      hits.push({ index, lines, total });
    });
    return { hits, binary, unreadable, mails };
  },
  /** Matches nothing if the file cannot be read. */
  searchOne({ pattern, from, request }: SearchOneWork): FileMatches {
    const matcher = matcherOf(pattern);
    try {
      const blocks = typeof from === "number" ? blocksOf(from) : blocksIn(Buffer.from(from));
      return matchLines(ticking(blocks), matcher, request);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      return { lines: [], total: 0, isBinary: false };
    }
  },
  edit: async (work: EditWork) => (await import("../edit/edit-text.ts")).editBytes(work),
  diff: async (work: DiffWork) => (await import("../edit/diff.ts")).diffTexts(work),
  document: async (work: DocumentWork) =>
    (await import("../read/convert-document.ts")).convertDocument(work),
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

/** Opens each file of a batch, works with it and closes it; returns how many could not be read. */
function forEach(
  directories: readonly BatchDirectory[],
  work: (fd: number, index: number) => void,
): number {
  let unreadable = 0;
  const files = directories.flatMap(({ at, names }) => names.map((name) => [at, name] as const));
  for (const [index, [at, name]] of files.entries()) {
    let fd: number | undefined;
    try {
      fd = openBelow(at, name);
      if (fd === undefined) unreadable += 1;
      else work(fd, index);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      unreadable += 1;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
  return unreadable;
}

const isSystemError = (error: unknown) => error instanceof Error && "syscall" in error;

function* ticking(blocks: Iterable<Block | undefined>): Generator<Block | undefined> {
  for (const block of blocks) {
    tick();
    yield block;
  }
}

let last: { key: string; matcher: LineMatcher } | undefined;

function matcherOf(pattern: TextPattern): LineMatcher {
  const key = JSON.stringify(pattern);
  if (last?.key !== key) last = { key, matcher: new LineMatcher(pattern) };
  return last.matcher;
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

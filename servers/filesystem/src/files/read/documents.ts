import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type DocumentKind,
  documentKind,
  hasSignature,
  isTextKind,
  kindOfStart,
} from "@refmcp/documents/kinds";
import { openIfThere } from "../open-path.ts";
import type { Threads } from "../threads/thread-pool.ts";
import { readAt } from "./bytes.ts";
import type { ConvertedDocument } from "./convert-document.ts";

/** Converted texts kept in memory, in bytes. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;
/** What an entry takes in addition to its text. */
const ENTRY_BYTES = 1_000;
/** Enough for the signature of each kind, and most headers of a message. */
const START_BYTES = 8_192;
/** `book.xlsx#Sales`: a document, and which part of it. */
const WITH_PART = /^(.+\.[a-z.]{2,7})#([^#/\\]+)$/i;

/** The path of a document and the part of it that a path selects; undefined if it selects none. */
export function splitPart(given: string): { path: string; part: string } | undefined {
  const [, path = "", part = ""] = WITH_PART.exec(given) ?? [];
  return documentKind(path) === undefined ? undefined : { path, part };
}

/**
 * Opens a file, and for a path such as `book.xlsx#Sales` returns which part of it to read, unless a file has exactly this
 * name.
 *
 * @throws what `PathGuard.openFile` throws.
 */
export async function openDocument(
  guard: PathGuard,
  given: string,
): Promise<{ file: GuardedFile; part?: string }> {
  const split = splitPart(given);
  if (split === undefined) return { file: await guard.openFile(given) };
  const file = await openIfThere(guard, given);
  if (file !== undefined) return { file };
  return { file: await guard.openFile(split.path), part: split.part };
}

export interface DocumentRequest {
  readonly part?: string | undefined;
  /** Also converts a PDF or a message whose name does not say that it is one. */
  readonly sniff?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The text of documents (Office, PDF, mail and others). They are converted in threads and kept in memory, the least
 * recently used ones being dropped first, so that reading on or searching again does not convert them again.
 */
export class Documents {
  readonly #threads: Pick<Threads, "run">;
  /** By file, version and part; the most recently used last. */
  readonly #kept = new Map<string, ConvertedDocument | ToolError>();
  #bytes = 0;

  constructor(threads: Pick<Threads, "run">) {
    this.#threads = threads;
  }

  /**
   * @returns undefined if the file is not a document, or is text that cannot be converted and is readable unchanged.
   * @throws ToolError `invalid` for one that is damaged, encrypted, too large or has no such part; `timeout`; the signal's
   *   reason.
   */
  async textOf(
    file: GuardedFile,
    request: DocumentRequest = {},
  ): Promise<ConvertedDocument | undefined> {
    const { part, signal, sniff = false } = request;
    const { size } = file.stat;
    const named = documentKind(file.path);
    if (named === undefined && !sniff) return undefined;
    const start = await readAt(file, 0, Math.min(size, START_BYTES));
    const kind = named ?? kindOfStart(start);
    if (kind === undefined || !hasSignature(kind, start)) return undefined;
    const key = keyOf(file, part);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return unlessText(kept, kind, part);
    }
    const work = { fd: file.handle.fd, size, path: file.path, document: kind, part };
    const converted = await this.#threads.run("document", work, signal).catch((error: unknown) => {
      if (!(error instanceof ToolError) || signal?.aborted) throw error;
      return error;
    });
    this.#keep(key, converted);
    return unlessText(converted, kind, part);
  }

  /** Whether the text of the whole file is in memory, or why there is none. */
  has(file: GuardedFile): boolean {
    return this.#kept.has(keyOf(file));
  }

  #keep(key: string, converted: ConvertedDocument | ToolError): void {
    this.#bytes += bytesOf(converted);
    this.#kept.set(key, converted);
    for (const [old, one] of this.#kept) {
      if (this.#bytes <= MAX_CACHED_BYTES) return;
      this.#kept.delete(old);
      this.#bytes -= bytesOf(one);
    }
  }
}

/** Changes with the file's content. */
function keyOf({ realPath, stat }: GuardedFile, part?: string): string {
  const { dev, ino, size, mtimeMs, ctimeMs } = stat;
  return JSON.stringify([realPath, dev, ino, size, mtimeMs, ctimeMs, part]);
}

function bytesOf(converted: ConvertedDocument | ToolError): number {
  if (converted instanceof ToolError) return ENTRY_BYTES;
  return ENTRY_BYTES + converted.bytes.length + 100 * converted.parts.length;
}

function unlessText(
  converted: ConvertedDocument | ToolError,
  kind: DocumentKind,
  part: string | undefined,
): ConvertedDocument | undefined {
  if (!(converted instanceof ToolError)) return converted;
  if (part === undefined && isTextKind(kind)) return undefined;
  throw converted;
}

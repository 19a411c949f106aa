import type { GuardedFile } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { documentKind, hasSignature, isTextKind, kindOfStart } from "@refmcp/documents/kinds";
import type { Threads } from "../threads/thread-pool.ts";
import { readAt, START_BYTES } from "./bytes.ts";
import type { ConvertedDocument } from "./convert-document.ts";

/** Converted texts kept in memory, in characters. */
const MAX_CACHED_CHARS = 64 * 1024 * 1024;
/** What an entry takes in addition to its text. */
const ENTRY_CHARS = 1_000;

/**
 * The text of documents (Office, PDF, mail and others). They are converted in threads and kept in memory, the least
 * recently used ones being dropped first, so that reading on or searching again does not convert them again.
 */
export class Documents {
  readonly #threads: Pick<Threads, "run">;
  /** By file and version; the most recently used last. */
  readonly #documents = new Map<string, ConvertedDocument | ToolError>();
  #chars = 0;

  constructor(threads: Pick<Threads, "run">) {
    this.#threads = threads;
  }

  /**
   * @param start the first bytes of the file, if they are known
   * @returns undefined if the file is not a document, or is text that cannot be converted and is readable unchanged
   * @throws ToolError `invalid` for one that is damaged, encrypted or too large; `timeout`; the signal's reason
   */
  async textOf(file: GuardedFile, signal?: AbortSignal, start?: Buffer) {
    const bytes = (start ?? (await readAt(file, 0, START_BYTES))).subarray(0, START_BYTES);
    const kind = documentKind(file.path) ?? kindOfStart(bytes);
    if (kind === undefined || !hasSignature(kind, bytes)) return undefined;
    const key = keyOf(file);
    let document = this.#documents.get(key);
    if (document === undefined) {
      const work = { fd: file.handle.fd, size: file.stat.size, path: file.path, document: kind };
      document = await this.#threads.run("document", work, signal).catch((error: unknown) => {
        if (!(error instanceof ToolError) || signal?.aborted) throw error;
        return error;
      });
      this.#chars += charsOf(document);
    }
    this.#documents.delete(key);
    this.#documents.set(key, document);
    for (const [old, oldest] of this.#documents) {
      if (this.#chars <= MAX_CACHED_CHARS) break;
      this.#documents.delete(old);
      this.#chars -= charsOf(oldest);
    }
    if (!(document instanceof ToolError)) return document;
    if (isTextKind(kind)) return undefined;
    throw document;
  }

  /** Whether the text of the file is in memory, or why there is none. */
  has(file: GuardedFile): boolean {
    return this.#documents.has(keyOf(file));
  }
}

/** Changes with the file's content. */
function keyOf({ realPath, stat }: GuardedFile): string {
  const { dev, ino, size, mtimeMs, ctimeMs } = stat;
  return JSON.stringify([realPath, dev, ino, size, mtimeMs, ctimeMs]);
}

function charsOf(converted: ConvertedDocument | ToolError): number {
  return ENTRY_CHARS + (converted instanceof ToolError ? 0 : converted.text.length);
}

/** The text with empty lines instead of those that are not of the document, so that a search does not find them. */
export function searchable(text: string): Buffer {
  return Buffer.from(text.replace(/^=== .*/gm, ""));
}

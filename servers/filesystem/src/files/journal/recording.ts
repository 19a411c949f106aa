import { writeFile } from "node:fs/promises";
import { errorCode, type GuardedFile } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../messages.ts";
import { chunksOf } from "../read/source.ts";
import type { Change, Effect } from "./change-record.ts";
import { imagePath } from "./entries.ts";

export interface Receipt {
  /** For `undo_change`; undefined if there is no journal. */
  readonly changeId: string | undefined;
  /** Why it cannot be undone; undefined if it can. */
  readonly final: string | undefined;
  /** A note about the journal for the user, only in the first answer. */
  readonly note?: string | undefined;
}

/** What is changed: its action and absolute paths, and the change that it undoes. */
export type Subject = Pick<Change, "action" | "path" | "destination" | "undoes">;

/** Where changes are recorded, or the reason why they are not. */
export type Opened = { directory: string } | { reason: string };

/** The journal as far as a record needs it. */
type Store = {
  newId(): string;
  whyNoImage(bytes: number): string | undefined;
  takeNote(): string | undefined;
  write(directory: string, change: Change, bytes: number): Promise<void>;
  withRoom<Value>(
    directory: string,
    need: { bytes: number; keep?: string | undefined },
    work: () => Promise<Value>,
  ): Promise<Value>;
  drop(directory: string, id: string): Promise<void>;
};

/** The record of one change. Without a journal nothing is kept, and `final` says why. */
export class Recording {
  readonly #journal: Store;
  readonly #subject: Subject;
  readonly #directory: string | undefined;
  readonly #id: string;
  final: string | undefined;
  #imageBytes = 0;
  #written = false;

  constructor(journal: Store, subject: Subject, opened: Opened) {
    this.#journal = journal;
    this.#subject = subject;
    this.#id = journal.newId();
    this.#directory = "directory" in opened ? opened.directory : undefined;
    this.final = "reason" in opened ? opened.reason : undefined;
  }

  /** The path for an image of `bytes` bytes; undefined if it is not kept, and `final` says why. */
  imageFor(bytes: number): string | undefined {
    if (this.#directory === undefined) return undefined;
    this.final = this.#journal.whyNoImage(bytes);
    if (this.final !== undefined) return undefined;
    this.#imageBytes = bytes;
    return imagePath(this.#directory, this.#id);
  }

  /** Saves the content of an open file, or content in memory, as the image. */
  async keep(content: GuardedFile | Uint8Array, signal?: AbortSignal): Promise<void> {
    const isFile = "handle" in content;
    const image = this.imageFor(isFile ? content.stat.size : content.length);
    if (image === undefined) return;
    const copy = () => writeFile(image, isFile ? chunksOf(content, signal) : content, { mode: 0o600 });
    await this.#guarded(() => this.withRoom(copy), signal);
  }

  /** Writes the entry; from then on the change counts as made. */
  async write(
    effect: Effect,
    sizes: { before?: number | undefined; after?: number | undefined } = {},
  ): Promise<void> {
    const directory = this.#directory;
    if (directory === undefined) return;
    this.#written = true;
    const change: Change = {
      id: this.#id,
      time: new Date().toISOString(),
      ...this.#subject,
      effect: this.final === undefined ? effect : undefined,
      final: this.final,
      size_before: sizes.before,
      size_after: sizes.after,
    };
    await this.#guarded(() => this.#journal.write(directory, change, this.#imageBytes));
  }

  /** Runs work that stores the image, dropping older changes if space is needed. */
  withRoom<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#directory === undefined) return work();
    const need = { bytes: this.#imageBytes, keep: this.#subject.undoes };
    return this.#journal.withRoom(this.#directory, need, work);
  }

  async drop(): Promise<void> {
    if (this.#directory === undefined || (!this.#written && this.#imageBytes === 0)) return;
    await this.#journal.drop(this.#directory, this.#id);
  }

  receipt(): Receipt {
    const changeId = this.#directory === undefined ? undefined : this.#id;
    // The note is for the first answer that reports a change.
    return { changeId, final: this.final, note: this.#written ? this.#journal.takeNote() : undefined };
  }

  async #guarded(work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.drop().catch(() => {});
      // The caller cancelled the call, which is not a failure of the journal.
      if (signal?.aborted) throw error;
      throw notJournaled(this.#directory ?? "the journal", error);
    }
  }
}

/** A change that cannot be recorded is not made, since the caller relies on undo. */
export function notJournaled(directory: string, cause: unknown): ToolError {
  return failure(
    "not_journaled",
    `The change was not made, because it could not be recorded in ${directory} (${errorCode(cause)}).`,
    { cause },
  );
}

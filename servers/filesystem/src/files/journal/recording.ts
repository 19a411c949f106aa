import { writeFile } from "node:fs/promises";
import type { GuardedFile } from "@refmcp/boundary";
import { chunksOf } from "../read/source.ts";
import type { Action, Change, Effect } from "./change-record.ts";
import { type Journal, notJournaled } from "./journal.ts";

/** The information about a recorded change for the caller. */
export interface Receipt {
  /** For `undo_change`; undefined if there is no journal. */
  readonly changeId: string | undefined;
  /** Why it cannot be undone; undefined if it can. */
  readonly final: string | undefined;
  /** A note about the journal for the user, only in the first answer. */
  readonly note?: string | undefined;
}

export interface Subject {
  readonly action: Action;
  /** Absolute. */
  readonly path: string;
  readonly destination?: string | undefined;
  /** The change that this one undoes. */
  readonly undoes?: string | undefined;
}

/**
 * Makes a change and records it. `make` saves the current state (`keep` or `imageFor`), calls `write`, and then makes
 * the change; if it fails, the record is removed.
 *
 * @returns what `make` returns, with the receipt.
 */
export async function record<Value extends object>(
  journal: Journal,
  subject: Subject,
  make: (recording: Recording) => Promise<Value>,
): Promise<Value & { readonly receipt: Receipt }> {
  const recording = new Recording(journal, subject, await journal.open(subject.path));
  try {
    return { ...(await make(recording)), receipt: recording.receipt() };
  } catch (error) {
    await recording.drop();
    throw error;
  }
}

/** The record of one change. Without a journal nothing is kept, and `final` says why. */
export class Recording {
  readonly #journal: Journal;
  readonly #subject: Subject;
  readonly #directory: string | undefined;
  readonly #id: string;
  #final: string | undefined;
  #imageBytes = 0;
  #written = false;

  constructor(journal: Journal, subject: Subject, opened: { directory: string } | { reason: string }) {
    this.#journal = journal;
    this.#subject = subject;
    this.#id = journal.newId();
    this.#directory = "directory" in opened ? opened.directory : undefined;
    this.#final = "reason" in opened ? opened.reason : undefined;
  }

  /** The path for an image of `bytes` bytes; undefined if it is not kept, and `final` says why. */
  imageFor(bytes: number): string | undefined {
    if (this.#directory === undefined) return undefined;
    this.#final = this.#journal.whyNoImage(bytes);
    if (this.#final !== undefined) return undefined;
    this.#imageBytes = bytes;
    return this.#journal.imagePath(this.#directory, this.#id);
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
      effect: this.#final === undefined ? effect : undefined,
      final: this.#final,
      size_before: sizes.before,
      size_after: sizes.after,
    };
    await this.#guarded(() => this.#journal.write(directory, change, this.#imageBytes));
  }

  /** Runs work that stores the image, dropping older changes if space is needed. */
  withRoom<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#directory === undefined) return work();
    return this.#journal.withRoom(
      this.#directory,
      { bytes: this.#imageBytes, keep: this.#subject.undoes },
      work,
    );
  }

  /** Removes the record of a change that was not made. */
  async drop(): Promise<void> {
    if (this.#directory === undefined || (!this.#written && this.#imageBytes === 0)) return;
    await this.#journal.drop(this.#directory, this.#id);
  }

  /** Why the change cannot be undone, as far as known. */
  get final(): string | undefined {
    return this.#final;
  }

  receipt(): Receipt {
    const changeId = this.#directory === undefined ? undefined : this.#id;
    // The note is for the first answer that reports a change.
    return { changeId, final: this.#final, note: this.#written ? this.#journal.takeNote() : undefined };
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

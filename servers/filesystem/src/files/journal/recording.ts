import { appendFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  copyData,
  ensureDirectory,
  errorCode,
  type GuardedFile,
  whileHeld,
} from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../messages.ts";
import { linked, type TrashPlace } from "../trash/trash.ts";
import { type Change, type Effect, groupText, type Step } from "./change-record.ts";
import { entryName, imagePath } from "./entries.ts";
import type { Journal } from "./journal.ts";

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

/**
 * Makes a change and records it. `make` saves the current state (`keep` or `imageFor`), calls `write`, and then makes
 * the change; if it fails, the record is removed.
 *
 * @returns what `make` returns, with the receipt.
 */
export type RecordChange = <Value extends object>(
  subject: Subject,
  make: (recording: Recording) => Promise<Value>,
) => Promise<Value & { readonly receipt: Receipt }>;

/** Larger files are kept under a second name rather than copied, where that is possible. */
const MAX_COPIED_BYTES = 64 * 1024;

/** Where one recording is stored: in a separate record, or as a step of a group. */
interface Slot {
  readonly id: string;
  readonly image: string | undefined;
  /** The name of an image in a trash. */
  readonly trashName: string;
  /** Whether a whole group has the receipt, with the journal's note. */
  readonly isMember: boolean;
  /** `effect`: also of a step that cannot be undone later. */
  write(step: Step, effect: Effect, imageBytes: number): Promise<void>;
  drop(): Promise<void>;
}

export async function recorded<Value extends object>(
  recording: Recording,
  make: (recording: Recording) => Promise<Value>,
): Promise<Value & { readonly receipt: Receipt }> {
  try {
    return { ...(await make(recording)), receipt: recording.receipt() };
  } catch (error) {
    await recording.drop();
    throw error;
  }
}

/** A change that has a separate record. */
export function singleSlot(journal: Journal, { undoes }: Subject, opened: Opened): Slot {
  const id = journal.newId();
  if ("reason" in opened)
    return {
      id,
      image: undefined,
      trashName: id,
      isMember: false,
      write: async () => {},
      drop: async () => {},
    };
  const { directory } = opened;
  return {
    id,
    image: imagePath(directory, id),
    trashName: id,
    isMember: false,
    write: (step, _effect, bytes) =>
      journal.write(directory, { id, time: new Date().toISOString(), ...step, undoes }, bytes),
    drop: () => journal.drop(directory, id),
  };
}

/**
 * A change of many steps under one id. Each step is appended to its record before it is made, so a killed process
 * leaves a record from which everything that was made can be undone. Its images are in one directory.
 */
export class ChangeGroup {
  readonly #journal: Journal;
  readonly #subject: Subject;
  readonly #opened: Opened;
  readonly #steps: Step[] = [];
  readonly #effects: Effect[] = [];
  readonly id: string;
  readonly #time = new Date().toISOString();
  #recordings = 0;
  #length = 0;
  #bytes = 0;
  #final: string | undefined;

  constructor(journal: Journal, subject: Subject, opened: Opened) {
    this.#journal = journal;
    this.#subject = subject;
    this.#opened = opened;
    this.id = journal.newId();
  }

  /** Records a step; the steps are made one after the other. */
  readonly record: RecordChange = (subject, make) => {
    const slot = this.#slot();
    const recording = recordingIn(this.#journal, subject, this.#opened, slot);
    return recorded(recording, make);
  };

  /** The change as recorded so far. */
  get change(): Change {
    return { id: this.id, time: this.#time, ...this.#subject, steps: this.#steps };
  }

  /** The change as made so far, with the effects that cannot be undone later but can be now. */
  get made(): Change {
    const steps = this.#steps.map((step, index) => ({ ...step, effect: this.#effects[index] }));
    return { ...this.change, steps };
  }

  /** Completes the record; undefined if no step was made. */
  async end(): Promise<Receipt | undefined> {
    if (this.#steps.length === 0) return undefined;
    if ("reason" in this.#opened) return { changeId: undefined, final: this.#opened.reason };
    const { directory } = this.#opened;
    await appendFile(this.#file(directory), groupText.end);
    const [from, to] = [this.#file(directory), join(directory, entryName(this, this.#bytes))];
    if (this.#bytes > 0) await whileHeld(from, () => rename(from, to));
    await this.#journal.written(directory, this.change, this.#bytes);
    const isFinal = this.#steps.every(({ effect }) => effect === undefined);
    return {
      changeId: this.id,
      final: isFinal ? this.#final : undefined,
      note: this.#journal.takeNote(),
    };
  }

  /** Removes the record of a call that was taken back. */
  async drop(): Promise<void> {
    if ("directory" in this.#opened && this.#length > 0)
      await this.#journal.drop(this.#opened.directory, this.id);
  }

  /** Where the images of its steps are. */
  get images(): string {
    return "directory" in this.#opened ? imagePath(this.#opened.directory, this.id) : "";
  }

  get undoes(): string | undefined {
    return this.#subject.undoes;
  }

  #file(directory: string): string {
    return join(directory, entryName(this, 0));
  }

  #slot(): Slot {
    const opened = this.#opened;
    const { id } = this;
    const number = this.#recordings++;
    const directory = "directory" in opened ? opened.directory : undefined;
    const image =
      directory === undefined ? undefined : groupImage(imagePath(directory, id), number);
    let start = -1;
    return {
      id,
      image,
      trashName: `${id}.${number}`,
      isMember: true,
      write: async (step, effect, imageBytes) => {
        const numbered = { ...step, image: number };
        const before = this.#length;
        if (directory !== undefined) await this.#append(directory, numbered);
        start = before;
        this.#bytes += imageBytes;
        this.#final ??= step.final;
        this.#steps.push(numbered);
        this.#effects.push(effect);
      },
      drop: async () => {
        if (start >= 0) {
          this.#steps.pop();
          this.#effects.pop();
          if (directory !== undefined) await truncate(this.#file(directory), start);
          this.#length = start;
          start = -1;
        }
        if (image !== undefined) await rm(image, { recursive: true, force: true });
      },
    };
  }

  async #append(directory: string, step: Step): Promise<void> {
    const file = this.#file(directory);
    const begin = this.#length === 0 ? groupText.begin(this.change) : "";
    const text = begin + groupText.step(step);
    const write = () =>
      writeFile(file, text, { mode: 0o600, flag: this.#length > 0 ? "a" : "w" }).catch(
        async (error: unknown) => {
          // A full disk may have taken a part of the line.
          if (this.#length > 0) await truncate(file, this.#length);
          throw error;
        },
      );
    await this.#journal.withRoom(
      directory,
      { bytes: text.length, keep: [this.id, this.undoes] },
      write,
    );
    this.#length += Buffer.byteLength(text);
  }
}

/** The image of a group's step. */
export function groupImage(images: string, number: number): string {
  return join(images, String(number));
}

export type Recording = ReturnType<typeof recordingIn>;

/** The record of one change. Without a journal nothing is kept, and `final` says why. */
export function recordingIn(journal: Journal, subject: Subject, opened: Opened, slot: Slot) {
  const directory = "directory" in opened ? opened.directory : undefined;
  let imageBytes = 0;
  let hasImage = false;
  let isWritten = false;
  let final = "reason" in opened ? opened.reason : undefined;
  let trashed: TrashPlace | undefined;
  return {
    get final() {
      return final;
    },
    imageFor,
    inTrash,
    keep,
    keepBytes,
    write,
    withRoom,
    drop,
    receipt(): Receipt {
      const changeId = directory === undefined ? undefined : slot.id;
      // The note is for the first answer that reports a change.
      return {
        changeId,
        final,
        note: isWritten && !slot.isMember ? journal.takeNote() : undefined,
      };
    },
  };

  /** The path for an image of `bytes` bytes; undefined if it is not kept, and `final` says why. */
  function imageFor(bytes: number): string | undefined {
    if (slot.image === undefined) return undefined;
    final = journal.whyNoImage(bytes);
    if (final !== undefined) return undefined;
    ensureDirectory(dirname(slot.image), 0o700);
    imageBytes = bytes;
    hasImage = true;
    return slot.image;
  }

  /**
   * Reserves a place in a trash for the entry at an absolute real path; undefined if there is none on its file system.
   * Close it. The record names it.
   */
  async function inTrash(realPath: string): Promise<TrashPlace | undefined> {
    trashed = await journal.trash.reserve(realPath, slot.trashName);
    if (trashed === undefined) return undefined;
    final =
      "reason" in opened ? `${opened.reason}; it is in the trash: ${trashed.path}` : undefined;
    return trashed;
  }

  /**
   * Saves the content of an open file that is about to be replaced by another file: in the journal or, if it is too
   * large for that or there is none, in a trash. Nothing is copied if the file can get a second name there.
   *
   * @param bytes its content, if that is in memory.
   */
  async function keep(file: GuardedFile, signal?: AbortSignal, bytes?: Uint8Array): Promise<void> {
    const image = imageFor(file.stat.size);
    const copy = async (to: string) => {
      if (bytes !== undefined) await writeFile(to, bytes, { mode: 0o600, flag: "wx" });
      else await (await copyData(file, to, signal)).close();
    };
    if (image !== undefined) {
      const save = async () => {
        if (file.stat.size > MAX_COPIED_BYTES && (await linked(file, image))) return;
        await rm(image, { force: true });
        await copy(image);
      };
      await guarded(() => withRoom(save), signal);
      return;
    }
    // Edits never ask, so without a journal they keep nothing.
    if (file.stat.size === 0 || (directory === undefined && subject.action === "edit")) return;
    const place = await inTrash(file.realPath);
    if (place === undefined) {
      // Nobody was asked whether it may be lost.
      if (await journal.trash.accepts(file.realPath)) throw notJournaled("the trash", undefined);
      return;
    }
    await guarded(() => place.keep(file, copy), signal).finally(() => place.close());
  }

  /** Saves bytes as the image. */
  async function keepBytes(bytes: Uint8Array): Promise<void> {
    const image = imageFor(bytes.length);
    if (image !== undefined)
      await guarded(() => withRoom(() => writeFile(image, bytes, { mode: 0o600 })));
  }

  /** Writes the entry; from then on the change counts as made. */
  async function write(
    effect: Effect,
    sizes: { before?: number | undefined; after?: number | undefined } = {},
  ): Promise<void> {
    isWritten = true;
    const { action, path, destination } = subject;
    const step: Step = {
      action,
      path,
      destination,
      effect: final === undefined ? effect : undefined,
      final,
      size_before: sizes.before,
      size_after: sizes.after,
      trash: trashed?.path,
    };
    await guarded(() => slot.write(step, effect, imageBytes));
  }

  /** Runs work that stores the image, dropping older changes if space is needed. */
  function withRoom<Value>(work: () => Promise<Value>): Promise<Value> {
    if (directory === undefined) return work();
    return journal.withRoom(
      directory,
      { bytes: imageBytes, keep: [slot.id, subject.undoes] },
      work,
    );
  }

  async function drop(): Promise<void> {
    if (isWritten || hasImage) await slot.drop();
    await trashed?.discard();
    trashed = undefined;
    isWritten = false;
  }

  async function guarded(work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      await drop().catch(() => {});
      // The caller cancelled the call, which is not a failure of the journal.
      if (signal?.aborted) throw error;
      throw notJournaled(directory ?? "the journal", error);
    }
  }
}

/** A change that cannot be recorded is not made, since the caller relies on undo. */
export function notJournaled(directory: string, cause: unknown): ToolError {
  const code = errorCode(cause);
  const reason = code === undefined ? "" : ` (${code})`;
  const message = `The change was not made, because it could not be recorded in ${directory}${reason}.`;
  return failure("not_journaled", message, { cause });
}

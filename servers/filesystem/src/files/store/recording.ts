import { appendFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { errorCode, whileHeld } from "@refmcp/boundary";
import { type Change, type RecordedStep, recordLine, type Subject } from "./record.ts";
import { notRecorded, type Receipt, type Store } from "./store.ts";

/** Starts the record of a call that changes something. @throws ToolError `unavailable` if there can be none. */
export async function startRecording(store: Store, subject: Subject): Promise<Recording> {
  const journal = await store.journal();
  const head = { id: store.nextId(), time: new Date().toISOString(), ...subject };
  return new Recording(store, head, journal);
}

/** The record of one call while it makes its steps, one after the other. */
export class Recording {
  readonly steps: RecordedStep[] = [];
  readonly #store: Store;
  readonly head: Omit<Change, "steps" | "interrupted">;
  readonly #journal: string;
  /** The paths of all images so far. */
  readonly #images: string[] = [];
  #bytes = 0;
  /** Bytes of the record that are written. */
  #length = 0;

  constructor(store: Store, head: Omit<Change, "steps" | "interrupted">, journal: string) {
    this.#store = store;
    this.head = head;
    this.#journal = journal;
  }

  /**
   * A free path for the image of the entry at an absolute real path.
   *
   * @param bytes its size; unknown for a directory
   */
  imageFor(realPath: string, bytes: number | undefined) {
    const { directory, isSameDisk } = this.#store.imagePlace(this.#journal, realPath, bytes);
    const image = join(directory, this.#store.imageName(this.head.id, this.#images.length));
    this.#images.push(image);
    this.#bytes += this.#store.countedBytes(bytes ?? 0);
    return { image, isSameDisk };
  }

  /** Runs work that copies to an image. */
  async copying(work: () => Promise<void> | void): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw errorCode(error) === undefined ? error : notRecorded(this.#journal, error);
    }
  }

  /** Records a step that is about to be made. @throws ToolError `unavailable`: then it must not be made. */
  write(step: RecordedStep): void {
    const text = (this.#length === 0 ? recordLine.head(this.head) : "") + recordLine.step(step);
    try {
      appendFileSync(this.#file(0), text, { mode: 0o600 });
    } catch (error) {
      // A full disk may have taken a part of the line.
      this.#truncate(this.#length);
      throw notRecorded(this.#journal, error);
    }
    this.#length += Buffer.byteLength(text);
    this.steps.push(step);
  }

  /**
   * Runs the work of one step. If it fails or returns nothing, the step is not recorded, and its images are erased, so
   * what was renamed to one must have been renamed back.
   */
  async attempt<Value>(work: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const [count, length, images] = [this.steps.length, this.#length, this.#images.length];
    let outcome: Value | undefined;
    try {
      outcome = await work();
      return outcome;
    } finally {
      if (outcome === undefined) {
        this.steps.length = count;
        if (this.#length > length) this.#truncate(length);
        this.#length = length;
        for (const image of this.#images.slice(images))
          rmSync(image, { recursive: true, force: true });
      }
    }
  }

  #truncate(length: number): void {
    if (length > 0) truncateSync(this.#file(0), length);
    else rmSync(this.#file(0), { force: true });
  }

  /** Completes the record; undefined if no step was made. */
  async end(): Promise<Receipt | undefined> {
    if (this.steps.length === 0) return undefined;
    appendFileSync(this.#file(0), recordLine.end);
    const file = this.#file(0);
    if (this.#bytes > 0) await whileHeld(file, () => renameSync(file, this.#file(this.#bytes)));
    const change = { ...this.head, steps: this.steps, interrupted: false };
    return this.#store.ended(this.#journal, change, this.#bytes);
  }

  /** Removes the record of a call that was taken back, and what it kept. */
  async drop(): Promise<void> {
    rmSync(this.#file(0), { force: true });
    await this.#store.erase(this.steps);
  }

  #file(bytes: number): string {
    return join(this.#journal, this.#store.recordName(this.head, bytes));
  }
}

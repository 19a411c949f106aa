import { setTimeout as sleep } from "node:timers/promises";
import { keyedLock } from "@refmcp/boundary";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import type { Store } from "../store/store.ts";
import { MAX_NOTES, NotesFolder } from "./folder.ts";
import { NOTE, type Notes, told } from "./state.ts";
import { readChanged, takeIn } from "./take-in.ts";
import { writeOut } from "./write-out.ts";

/** If more notes than this are missing at once, and over half of all, they were not deleted one by one. */
const MAX_DELETED = 10;
const ROUNDS = 3;
const REPLACED_MS = 50;

/**
 * Keeps a memory and a directory of Markdown notes the same. Both directions compare with what the note had when it was last
 * read or written, so that edits on both sides are merged: first, what people changed in files is taken into the memory (as a
 * change that can be undone), then everything in the journal that the notes do not have yet is written to them. Because the second part
 * follows the journal, it also writes what another process changed, or what a killed one no longer wrote.
 */
export class NotesSync {
  readonly #notes: Notes;
  readonly #alone = keyedLock();
  #version = Number.NaN;
  #reported = "";
  #syncedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, directory: string) {
    const folder = new NotesFolder(directory);
    this.#notes = { store, folder, states: new Map(), unreadable: new Map(), problems: [] };
  }

  /**
   * @throws ToolError `too_large` for a memory with too many entities for notes, `unavailable` if the directory cannot be
   *   created.
   */
  static async open(store: Store, directory: string): Promise<NotesSync> {
    const { entities } = await store.read((reader) => reader.counts());
    if (entities > MAX_NOTES)
      throw new ToolError(
        "too_large",
        `--notes is for up to ${grouped(MAX_NOTES)} entities; this memory has ${grouped(entities)}.`,
        { hint: "Start the server without --notes, or export notes once with export_graph." },
      );
    const sync = new NotesSync(store, directory);
    await sync.#load();
    // A directory that had notes is not created again: it may be on a disk that is not mounted.
    if (sync.#notes.states.size === 0) sync.#notes.folder.create();
    return sync;
  }

  /**
   * Makes both sides the same.
   *
   * @param age in milliseconds: nothing is done if they were compared since.
   * @returns sentences for the user about what could not be done, each time that they change.
   */
  sync(age = 0): Promise<string | undefined> {
    return this.#alone("notes", async () => {
      if (performance.now() - this.#syncedAt < age) return undefined;
      this.#syncedAt = performance.now();
      const { problems } = this.#notes;
      problems.length = 0;
      try {
        for (let round = 1; (await this.#round()) && round < ROUNDS; round++);
      } catch (error) {
        // The call itself is independent of it.
        problems.push(
          `The notes were not updated: ${error instanceof ToolError ? told(error) : String(error)}`,
        );
      }
      const report = problems.slice(0, 3).join(" ");
      const isNew = report !== this.#reported;
      this.#reported = report;
      return isNew && report !== "" ? report : undefined;
    });
  }

  /** Writes to the notes what a call changed in the memory, if it did. See `sync`. */
  async afterCall(): Promise<string | undefined> {
    return (await this.#notes.store.version()) === this.#version ? undefined : this.sync();
  }

  /** @returns whether another program changed a note in between, so that another round is needed. */
  async #round(): Promise<boolean> {
    const { store, folder, states, problems, unreadable } = this.#notes;
    if ((await store.version()) !== this.#version) await this.#load();
    const known = [...states].filter(([, state]) => state.trashedFrom === undefined);
    const lacking = (files: ReadonlyMap<string, string> | undefined) =>
      known.filter(([path]) => files?.has(path) !== true);
    const first = folder.scan();
    // Some programs replace a file by deleting it first.
    if (lacking(first).length > 0) await sleep(REPLACED_MS);
    const found = lacking(first).length > 0 ? folder.scan() : first;
    const changed = [...(found ?? [])].filter(
      ([path, stamp]) => states.get(path)?.stamp !== stamp && unreadable.get(path) !== stamp,
    );
    const missing = new Map(lacking(found));
    const read = await readChanged(this.#notes, new Map(changed), missing);
    const rows = await store.read((reader) =>
      reader.entitiesById([...missing.values()].map(({ id }) => id)),
    );
    const lost = [...missing.values()].filter(({ id }) => rows.get(id)?.removedBy === null).length;
    const isAll = lost > 0 && lost === known.length && read.length === 0;
    if (found === undefined || isAll || (lost > MAX_DELETED && lost * 2 > known.length)) {
      problems.push(
        `${grouped(lost)} of ${grouped(known.length)} notes in ${folder.root} are missing, as if the directory was moved or is not mounted. Nothing was deleted from the memory, and notes are not updated until they are back. To delete entities, call delete_entities.`,
      );
      return false;
    }
    if (read.length > 0 || missing.size > 0) await takeIn(this.#notes, read, missing);
    const isAgain = await writeOut(this.#notes, found);
    this.#version = await store.version();
    return isAgain;
  }

  async #load(): Promise<void> {
    const { store, states } = this.#notes;
    this.#version = await store.version();
    const stored = await store.read((reader) => reader.metaFrom(NOTE));
    states.clear();
    for (const [path, text] of stored) states.set(path, JSON.parse(text));
  }
}

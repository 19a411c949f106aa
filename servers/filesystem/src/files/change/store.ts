import { createHash, randomBytes } from "node:crypto";
import { lstatSync, renameSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type AllowedDirectories,
  ensureDirectory,
  errorCode,
  openStateDirectory,
  ownDirectory,
  realPathOf,
  type WalkedDirectory,
  whileHeld,
  within,
} from "@refmcp/boundary";
import { sized, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import {
  byId,
  type Entry,
  entriesIn,
  IMAGE_NAME,
  idAt,
  journalsIn,
  OWNER_NAME,
  parsed,
  recordName,
  removeOrphans,
} from "./journal-files.ts";
import type { Change, RecordedStep } from "./record.ts";
import { openTrash, TRASH } from "./trash.ts";

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** A file up to this size on another disk is copied rather than kept in a directory next to the user's files. */
const SMALL_BYTES = MIB;
/** How many changes are recorded between checks of the limits. */
const PRUNE_EVERY = 20;
/** A more recent change may still be in progress, here or in another process, and is not dropped. */
const RECENT_MS = 60_000;
/** An image without a record that is older than this was left by a crash. */
const ORPHAN_MS = 3_600_000;
/** The disk space of a change without its images, in bytes. */
const RECORD_BYTES = 4_096;

interface StoreOptions {
  /** Candidate directories in order of preference; see `stateDirectories`. */
  readonly directories: readonly string[];
  readonly allowed: AllowedDirectories;
  /** How many days a change is kept; 0: only until its call ends. */
  readonly days: number;
  readonly maxBytes?: number;
  readonly maxChanges?: number;
  /** The largest image that is copied; of any size if it only has to be renamed. */
  readonly maxCopiedBytes?: number;
}

const DEFAULTS = { maxBytes: 200 * MIB, maxChanges: 1_000, maxCopiedBytes: 100 * MIB };

/** What an answer says about the record of a change. */
export interface Receipt {
  /** For `undo_change`; undefined if nothing is kept. */
  readonly changeId: string | undefined;
  /** Why it cannot be undone; undefined if it can. */
  readonly final: string | undefined;
  /** A note about the store for the user, only in the first answer. */
  readonly note?: string | undefined;
}

/**
 * What this server changed, and the entries that were there before. Each allowed directory has its own journal, so
 * activity in one does not displace changes in another. A change is one file, `<id>.<bytes of its images>.json` (for an
 * undo also with the change that it undid); its images are `images/<id>.<number>` or, on another disk, in a
 * `.refmcp-trash`. Since every change has its own files, several server processes can share a journal without a lock,
 * and a crash leaves at most one extra file.
 */
export class Store {
  readonly #options: Required<StoreOptions>;
  /** Complete records never change. */
  readonly #cache = new Map<string, Change>();
  readonly #listeners = new Set<() => void>();
  /** The number of changes in each journal since it was last pruned. */
  readonly #sincePrune = new Map<string, number>();
  #lastTime = 0;
  #note: string | undefined;

  constructor(options: StoreOptions) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Whether changes can be undone after their call. */
  get keeps(): boolean {
    return this.#options.days > 0;
  }

  /** A new id; ids sort by time. */
  nextId(): string {
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
    return `${idAt(this.#lastTime)}-${randomBytes(3).toString("hex")}`;
  }

  /** The journal of the allowed directory around an absolute path. @throws ToolError `unavailable` */
  async journalFor(path: string): Promise<string> {
    const all = await this.#open(true);
    const roots = this.#options.allowed
      .directories()
      .flatMap((one) => [one.path, one.realPath].map((at) => ({ path: one.realPath, at })))
      .filter(({ at }) => within(path, at))
      .sort((a, b) => b.at.length - a.at.length);
    const root = roots[0]?.path ?? path;
    const journal = join(all, createHash("sha256").update(root).digest("hex").slice(0, 16));
    if (this.#sincePrune.has(journal) && lstatSync(journal, { throwIfNoEntry: false }))
      return journal;
    try {
      ensureDirectory(join(journal, "images"), 0o700);
      // Renamed into place: a half-written one would hide the whole journal.
      const draft = join(journal, `${idAt(Date.now())}-${randomBytes(3).toString("hex")}.tmp`);
      const text = JSON.stringify({ path: root, days: this.#options.days });
      await this.withRoom(journal, [], () => writeFileSync(draft, text, { mode: 0o600 }));
      await whileHeld(draft, () => renameSync(draft, join(journal, OWNER_NAME)));
    } catch (error) {
      throw notRecorded(journal, error);
    }
    this.#sincePrune.set(journal, PRUNE_EVERY);
    return journal;
  }

  /** The directory of all journals. @throws ToolError `unavailable` if there can be none. */
  async #open(create: boolean): Promise<string> {
    const { directories, allowed } = this.#options;
    const opened = await openStateDirectory(directories, allowed, { name: "journal", create });
    if ("reason" in opened)
      throw failure("no_journal", `Changes cannot be recorded: ${opened.reason}.`);
    if (!opened.lasting && this.#note === undefined)
      this.#note = `The journal is in a temporary directory (${opened.directory}), so changes may not be undoable after a restart. To keep it elsewhere, start the server with --journal-dir.`;
    return opened.directory;
  }

  /** Completes a change whose record is written. */
  async ended(journal: string, change: Change, bytes: number): Promise<Receipt> {
    if (!this.keeps) {
      await this.#remove(
        { directory: journal, id: change.id, name: recordName(change, bytes) },
        change,
      );
      return { changeId: undefined, final: "nothing is kept (--journal-days 0)" };
    }
    this.#cache.set(change.id, change);
    for (const listener of this.#listeners) listener();
    const since = (this.#sincePrune.get(journal) ?? 0) + 1;
    const isDue = since > PRUNE_EVERY || bytes > this.#options.maxBytes / PRUNE_EVERY;
    this.#sincePrune.set(journal, isDue ? 0 : since);
    if (isDue) await this.#prune(journal, change.id);
    const note = this.#note;
    this.#note = note === undefined ? undefined : "";
    return { changeId: change.id, final: undefined, ...(note ? { note } : {}) };
  }

  /**
   * Runs work that needs space on the journal's disk. If it is full, the oldest changes are dropped until there is.
   *
   * @param keep ids of changes that must stay
   */
  async withRoom<Value>(
    journal: string,
    keep: readonly (string | undefined)[],
    work: () => Value | Promise<Value>,
  ): Promise<Value> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isFull = /^(?:ENOSPC|EDQUOT)$/i.test(errorCode(error) ?? "");
        if (!isFull || !(await this.#makeRoom(journal, keep))) throw error;
      }
    }
  }

  async #makeRoom(journal: string, keep: readonly (string | undefined)[]): Promise<boolean> {
    const recent = idAt(Date.now() - RECENT_MS);
    let freed = 0;
    for (const entry of await entriesIn(journal)) {
      if (freed >= MIB || entry.id >= recent) break;
      if (keep.includes(entry.id)) continue;
      await this.#remove(entry);
      freed += entry.bytes + RECORD_BYTES;
    }
    return freed > 0;
  }

  /**
   * Where the entry at an absolute real path is kept, by renaming it or by copying it.
   *
   * @param bytes its size; unknown for a directory
   */
  imagePlace(journal: string, realPath: string, bytes: number | undefined): ImagePlace {
    const own = join(journal, "images");
    const device = statSync(dirname(realPath)).dev;
    if (statSync(own).dev === device) return { directory: own, isSameDisk: true };
    if (bytes !== undefined && bytes <= SMALL_BYTES) return { directory: own, isSameDisk: false };
    for (const { realPath: root, writable } of this.#options.allowed.directories()) {
      if (!writable || !within(realPath, root) || statSync(root).dev !== device) continue;
      const trash = openTrash(join(root, TRASH));
      if (trash === undefined) continue;
      trash.close();
      return { directory: trash.realPath, isSameDisk: true };
    }
    return { directory: own, isSameDisk: false };
  }

  /** What an image counts against the limit; one that is never copied, whatever its size, does not. */
  countedBytes(bytes: number): number {
    return bytes <= this.#options.maxCopiedBytes ? bytes : 0;
  }

  /** @throws ToolError `too_large` for what is too large to be copied. */
  requireCopyable(path: string, bytes: number): void {
    const { maxCopiedBytes } = this.#options;
    if (bytes <= maxCopiedBytes) return;
    const what = `${named(path)} was not changed: its ${sized(bytes)} exceed the ${sized(maxCopiedBytes)} that can be copied for undo_change, and it cannot be renamed to a place on its disk.`;
    throw failure("not_kept", what);
  }

  /** Opens the directory of a recorded image. @throws ToolError `conflict` if the image is gone. */
  openImage(image: string): WalkedDirectory {
    try {
      const isOurs = this.#options.allowed.hidden?.hides(realPathOf(dirname(image))) !== false;
      const directory = ownDirectory(dirname(image));
      if (isOurs && lstatSync(directory.entry(basename(image)), { throwIfNoEntry: false }))
        return directory;
      directory.close();
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
    throw failure("image_missing", "The content that was kept for it no longer exists.");
  }

  /** Calls `listener` after each change of this process; returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * The recorded changes inside the allowed directories, newest first.
   *
   * @param range.before only changes older than this id
   * @param range.below only changes at or below this absolute path
   */
  async list(range: {
    before?: string | undefined;
    below?: string | undefined;
    limit: number;
  }): Promise<Change[]> {
    const { before, below, limit } = range;
    const changes: Change[] = [];
    for (const entry of (await this.#entries()).toReversed()) {
      if (changes.length === limit) break;
      if (before !== undefined && entry.id >= before) continue;
      const change = await this.#read(entry);
      if (change === undefined) continue;
      if (below === undefined || pathsOf(change).some((path) => within(path, below)))
        changes.push(change);
    }
    return changes;
  }

  /** @throws ToolError `not_found` if there is no change of this id inside; `unavailable` if nothing is kept. */
  async get(id: string): Promise<Change> {
    const entry = (await this.#entries()).find((one) => one.id === id);
    const change = entry && (await this.#read(entry));
    if (change !== undefined) return change;
    throw failure("no_change", `The journal has no change ${JSON.stringify(id)}.`);
  }

  /** The latest undo of each change: id of the change → id of its undo. */
  async undone(): Promise<Map<string, string>> {
    const entries = await this.#entries();
    return new Map(
      entries.flatMap(({ id, undoes }) => (undoes === undefined ? [] : [[undoes, id]])),
    );
  }

  /** Erases what earlier processes kept for the allowed directories, if nothing is to be kept. */
  async eraseUnwanted(): Promise<void> {
    if (this.keeps) return;
    for (const entry of await this.#allEntries().catch(() => []))
      if ((await this.#read(entry)) !== undefined) await this.#remove(entry);
  }

  async #entries(): Promise<Entry[]> {
    if (this.keeps) return this.#allEntries();
    throw failure("no_journal", "No change is recorded: nothing is kept (--journal-days 0).");
  }

  /** The entries of all journals that may concern the allowed directories, by time. */
  async #allEntries(): Promise<Entry[]> {
    const allowed = this.#options.allowed.directories();
    const entries: Entry[] = [];
    for await (const { directory, path } of journalsIn(await this.#open(false))) {
      const isNear = allowed.some(
        ({ realPath }) => within(path, realPath) || within(realPath, path),
      );
      if (isNear) entries.push(...(await entriesIn(directory)));
    }
    return entries.sort(byId);
  }

  /** Undefined for a change outside this server's directories, which is not shown, or a damaged record. */
  async #read(entry: Entry): Promise<Change | undefined> {
    const change = this.#cache.get(entry.id) ?? (await parsed(entry));
    if (change === undefined) return undefined;
    // The record of another process may still grow.
    if (!change.interrupted) this.#cache.set(entry.id, change);
    const allowed = this.#options.allowed.directories().flatMap((one) => [one.path, one.realPath]);
    const isVisible = pathsOf(change).every((path) => allowed.some((one) => within(path, one)));
    return change.id === entry.id && isVisible ? change : undefined;
  }

  async #remove(entry: Pick<Entry, "directory" | "id" | "name">, change?: Change): Promise<void> {
    const { steps = [] } = change ?? this.#cache.get(entry.id) ?? (await parsed(entry)) ?? {};
    this.#cache.delete(entry.id);
    await this.erase(steps);
    await rm(join(entry.directory, entry.name), { force: true });
  }

  /** Erases the images of steps. */
  async erase(steps: readonly RecordedStep[]): Promise<void> {
    for (const step of steps) {
      if (!("image" in step) || step.image === undefined) continue;
      const { image } = step;
      const isOurs = this.#options.allowed.hidden?.hides(realPathOf(dirname(image))) !== false;
      if (isOurs && IMAGE_NAME.test(basename(image)))
        await rm(image, { recursive: true, force: true });
    }
  }

  /** Removes the oldest changes beyond the limits, leftovers of crashes, and changes of any journal that are too old. */
  async #prune(journal: string, keep: string): Promise<void> {
    const entries = (await entriesIn(journal)).toReversed();
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const isTooMuch = index >= this.#options.maxChanges || bytes > this.#options.maxBytes;
      if (isTooMuch && entry.id !== keep) await this.#remove(entry);
    }
    const known = new Set(entries.map(({ id }) => id));
    await removeOrphans(join(journal, "images"), (id) => known.has(id), ORPHAN_MS);
    for (const { realPath } of this.#options.allowed.directories())
      await removeOrphans(
        join(realPath, TRASH),
        (id) => known.has(id),
        this.#options.days * DAY_MS,
      );
    // Each journal has its own retention time.
    for await (const { directory, days } of journalsIn(dirname(journal))) {
      const oldest = idAt(Date.now() - days * DAY_MS);
      for (const entry of await entriesIn(directory))
        if (entry.id < oldest && entry.id !== keep) await this.#remove(entry);
    }
  }
}

interface ImagePlace {
  readonly directory: string;
  /** Whether an entry only has to be renamed to it. */
  readonly isSameDisk: boolean;
}

function pathsOf({ path, destination, steps }: Change): string[] {
  const paths = steps.flatMap((step) =>
    step.kind === "rename" ? [step.path, step.to] : [step.path],
  );
  return [path, ...(destination === undefined ? [] : [destination]), ...paths];
}

/** A change that cannot be recorded is not made, since the caller relies on undo. */
export function notRecorded(journal: string, cause: unknown): ToolError {
  const code = errorCode(cause);
  const reason = code === undefined ? "" : ` (${code})`;
  const message = `The change was not made, because it could not be recorded in ${journal}${reason}.`;
  return failure("not_recorded", message, { cause });
}

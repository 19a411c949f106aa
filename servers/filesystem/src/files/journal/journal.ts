import { createHash, randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type AllowedDirectories,
  ensureDirectory,
  errorCode,
  openStateDirectory,
  whileHeld,
  within,
} from "@refmcp/boundary";
import { sized } from "@refmcp/boundary/answer";
import { failure } from "../messages.ts";
import { Trash } from "../trash/trash.ts";
import { type Change, parseRecord, recordText, stepsOf } from "./change-record.ts";
import {
  byId,
  type Entry,
  entriesIn,
  entryName,
  idAt,
  journalsIn,
  OWNER_NAME,
  removeFiles,
  removeOrphans,
} from "./entries.ts";
import {
  ChangeGroup,
  notJournaled,
  type Opened,
  type RecordChange,
  recorded,
  recordingIn,
  type Subject,
  singleSlot,
} from "./recording.ts";

/** Ids of changes that must not be dropped to free space. */
type Kept = readonly (string | undefined)[];

export interface JournalOptions {
  /** Candidate directories in order of preference; see `stateDirectories`. */
  readonly directories: readonly string[];
  readonly allowed: AllowedDirectories;
  readonly enabled: boolean;
  readonly maxBytes?: number;
  readonly maxEntries?: number;
  readonly maxDays?: number;
  readonly maxImageBytes?: number;
}

const MIB = 1024 * 1024;
const DEFAULTS = { maxBytes: 200 * MIB, maxEntries: 1000, maxDays: 30, maxImageBytes: 100 * MIB };
const DAY_MS = 86_400_000;
/** How many entries are written between checks of the limits. */
const PRUNE_EVERY = 20;
/** A more recent change may still be in progress, here or in another process, and is not dropped. */
const RECENT_MS = 60_000;
/** The disk space of an entry without its image, in bytes. */
const ENTRY_BYTES = 4_096;

/**
 * The record of changes. Each allowed directory has its own journal directory, so activity in one does not displace
 * changes in another. A change is one file, `<id>.<bytes of its image>.json` (for an undo also with the change that it
 * undid), and its image is `<id>.image`: the previous file, directory or link. Ids sort by time. Since every change has
 * its own files, several server processes can share a journal without a lock, and a crash leaves at most one extra
 * file.
 */
export class Journal {
  readonly #options: Required<JournalOptions>;
  readonly trash: Trash;
  readonly maxImageBytes: number;
  /** Entries never change, so they are cached. */
  readonly #cache = new Map<string, Change>();
  readonly #listeners = new Set<() => void>();
  /** The number of entries written to each journal since it was last pruned. */
  readonly #sincePrune = new Map<string, number>();
  #lastTime = 0;
  #note: string | undefined;
  #isNoteTaken = false;

  constructor(options: JournalOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { directories, allowed, maxDays, maxImageBytes } = this.#options;
    this.maxImageBytes = maxImageBytes;
    this.trash = new Trash(allowed, maxDays, directories);
  }

  /** See `RecordChange`. */
  readonly record: RecordChange = async (subject, make) => {
    const opened = await this.open(subject.path);
    return recorded(recordingIn(this, subject, opened, singleSlot(this, subject, opened)), make);
  };

  /** Starts a change of many steps, for a call that changes many files. */
  async group(subject: Subject): Promise<ChangeGroup> {
    return new ChangeGroup(this, subject, await this.open(subject.path));
  }

  /** The journal for changes at an absolute path, created if it is missing; or the reason why there is none. */
  async open(path: string): Promise<Opened> {
    const opened = await this.#openAll(true);
    if ("reason" in opened) return opened;
    const { path: owner } = this.#options.allowed
      .directories()
      .flatMap((one) => [one.path, one.realPath].map((at) => ({ path: one.realPath, at })))
      .filter(({ at }) => within(path, at))
      .reduce((best, one) => (one.at.length > best.at.length ? one : best), { path, at: "" });
    const directory = join(
      opened.directory,
      createHash("sha256").update(owner).digest("hex").slice(0, 16),
    );
    try {
      ensureDirectory(directory, 0o700);
      if (!this.#sincePrune.has(directory)) {
        // Written atomically: a half-written one would hide the whole journal.
        await this.#put(
          directory,
          OWNER_NAME,
          JSON.stringify({ path: owner, days: this.#options.maxDays }),
        );
        this.#sincePrune.set(directory, PRUNE_EVERY);
      }
    } catch (error) {
      throw notJournaled(directory, error);
    }
    return { directory };
  }

  /** Why a change at `path` that needs an image of `bytes` bytes could not be undone; undefined if it could. */
  async whyFinal(path: string, bytes: number): Promise<string | undefined> {
    const opened = await this.open(path);
    return "reason" in opened ? opened.reason : this.whyNoImage(bytes);
  }

  /**
   * Why `bytes` bytes at an absolute real path would be lost; undefined if they are kept in the journal or a trash.
   */
  async whyLost(realPath: string, bytes: number): Promise<string | undefined> {
    const reason = await this.whyFinal(realPath, bytes);
    return reason === undefined || (await this.trash.accepts(realPath)) ? undefined : reason;
  }

  /** Why an image of `bytes` bytes is not kept; undefined if it is. */
  whyNoImage(bytes: number): string | undefined {
    if (bytes <= this.maxImageBytes) return undefined;
    return `its ${sized(bytes)} exceed the ${sized(this.maxImageBytes)} that the journal keeps for one change`;
  }

  /** A note about the journal's location for the user; returned only once. */
  takeNote(): string | undefined {
    if (this.#note === undefined || this.#isNoteTaken) return undefined;
    this.#isNoteTaken = true;
    return this.#note;
  }

  async #openAll(create: boolean): Promise<Opened> {
    if (!this.#options.enabled) return { reason: "the journal is off (--no-journal)" };
    const { directories, allowed } = this.#options;
    const opened = await openStateDirectory(directories, allowed, { name: "journal", create });
    if ("reason" in opened) return { reason: `there is no journal: ${opened.reason}` };
    if (!opened.lasting) {
      this.#note = `The journal is in a temporary directory (${opened.directory}), so changes may not be undoable after a restart. To keep it elsewhere, start the server with --journal-dir.`;
    }
    return opened;
  }

  /** A new id that sorts after all those issued by this process. */
  newId(): string {
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
    return `${idAt(this.#lastTime)}-${randomBytes(3).toString("hex")}`;
  }

  /** Records a change whose image (`bytes` bytes) is in place. The record is written before the change is made. */
  async write(directory: string, change: Change, bytes: number): Promise<void> {
    await this.#put(directory, entryName(change, bytes), recordText(change), [
      change.id,
      change.undoes,
    ]);
    await this.written(directory, change, bytes);
  }

  /** Counts a change whose record is complete, and removes old ones if it is time. */
  async written(directory: string, change: Change, bytes: number): Promise<void> {
    this.#cache.set(change.id, change);
    for (const listener of this.#listeners) listener();
    const since = (this.#sincePrune.get(directory) ?? 0) + 1;
    const isDue = since > PRUNE_EVERY || bytes > this.#options.maxBytes / PRUNE_EVERY;
    this.#sincePrune.set(directory, isDue ? 0 : since);
    if (isDue) await this.#prune(directory, change.id);
  }

  /** Writes a file of a journal completely or not at all. */
  async #put(directory: string, name: string, text: string, keep: Kept = []): Promise<void> {
    const draft = join(directory, `${this.newId()}.tmp`);
    const write = () => writeFile(draft, text, { mode: 0o600 });
    try {
      await this.withRoom(directory, { bytes: text.length, keep }, write);
      const path = join(directory, name);
      await whileHeld(path, () => rename(draft, path));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  /**
   * Runs work that needs space on the journal's disk. If the disk is full, the oldest changes of this journal are
   * dropped until there is enough space.
   *
   * @param need.keep changes that must be kept.
   */
  async withRoom<Value>(
    directory: string,
    { bytes, keep }: { bytes: number; keep: Kept },
    work: () => Promise<Value>,
  ): Promise<Value> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isFull = /^(?:ENOSPC|EDQUOT)$/i.test(errorCode(error) ?? "");
        if (!isFull || !(await this.#makeRoom(directory, bytes, keep))) throw error;
      }
    }
  }

  async #makeRoom(directory: string, bytes: number, keep: Kept): Promise<boolean> {
    const recent = idAt(Date.now() - RECENT_MS);
    let freed = 0;
    for (const entry of await entriesIn(directory)) {
      if (freed >= bytes || entry.id >= recent) break;
      if (keep.includes(entry.id)) continue;
      await this.#remove(entry);
      freed += entry.bytes + ENTRY_BYTES;
    }
    return freed > 0;
  }

  /** Calls `listener` after each entry of this process; returns a function that removes it. */
  onWrite(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Removes the entry and the image of a change that failed. */
  async drop(directory: string, id: string): Promise<void> {
    const entry = (await entriesIn(directory)).find((one) => one.id === id);
    await this.#remove(entry ?? { directory, id, name: `${id}.0.json` });
  }

  /**
   * The recorded changes inside the bound, newest first.
   *
   * @param range.before only changes older than this id.
   * @param range.below only changes at or below this absolute path.
   */
  async list({
    before,
    below,
    limit,
  }: {
    before?: string | undefined;
    below?: string | undefined;
    limit: number;
  }): Promise<Change[]> {
    const found: Change[] = [];
    for (const entry of (await this.#entries()).toReversed()) {
      if (found.length === limit) break;
      if (before !== undefined && entry.id >= before) continue;
      const change = await this.#read(entry);
      if (change === undefined) continue;
      if (below === undefined || pathsOf(change).some((path) => within(path, below)))
        found.push(change);
    }
    return found;
  }

  /**
   * Returns one change.
   *
   * @throws ToolError `not_found` if there is none of this id inside the bound, `unavailable` without a journal.
   */
  async get(id: string): Promise<{ directory: string; change: Change }> {
    const entry = (await this.#entries()).find((one) => one.id === id);
    const change = entry && (await this.#read(entry));
    if (change === undefined)
      throw failure("no_change", `The journal has no change ${JSON.stringify(id)}.`);
    return { directory: entry?.directory ?? "", change };
  }

  /** The latest undo of each change: id of the change → id of its undo. */
  async undone(): Promise<Map<string, string>> {
    const undone = new Map<string, string>();
    for (const { id, undoes } of await this.#entries())
      if (undoes !== undefined) undone.set(undoes, id);
    return undone;
  }

  /** Erases all recorded changes inside the bound, with their images. */
  async forget(): Promise<void> {
    for (const entry of await this.#entries().catch(() => [])) {
      if ((await this.#read(entry)) !== undefined) await this.#remove(entry);
    }
  }

  /** The entries of all journals that may concern the allowed directories, by time. */
  async #entries(): Promise<Entry[]> {
    const opened = await this.#openAll(false);
    if ("reason" in opened) throw failure("no_journal", `No change is recorded: ${opened.reason}.`);
    const allowed = this.#options.allowed.directories();
    const found: Entry[] = [];
    for await (const { directory, path } of journalsIn(opened.directory)) {
      const isNear = allowed.some(
        ({ realPath }) => within(path, realPath) || within(realPath, path),
      );
      if (isNear) found.push(...(await entriesIn(directory)));
    }
    return found.sort(byId);
  }

  /** Undefined for a change outside this server's directories, which is not shown. */
  async #read({ directory, id, name }: Entry): Promise<Change | undefined> {
    const change = this.#cache.get(id) ?? (await this.#parse({ directory, name }));
    if (change === undefined) return undefined;
    // The group of another process may still grow.
    if (change.interrupted !== true) this.#cache.set(id, change);
    const allowed = this.#options.allowed.directories().flatMap((one) => [one.path, one.realPath]);
    const isVisible = pathsOf(change).every((path) => allowed.some((one) => within(path, one)));
    return change.id === id && isVisible ? change : undefined;
  }

  /** Undefined for a record that another process has pruned, or that is damaged. */
  async #parse({
    directory,
    name,
  }: Pick<Entry, "directory" | "name">): Promise<Change | undefined> {
    try {
      return parseRecord(await readFile(join(directory, name), "utf8"));
    } catch {
      return undefined;
    }
  }

  async #remove(entry: Pick<Entry, "directory" | "id" | "name">): Promise<void> {
    const change = this.#cache.get(entry.id) ?? (await this.#parse(entry));
    this.#cache.delete(entry.id);
    for (const { trash } of change === undefined ? [] : stepsOf(change))
      if (trash !== undefined) await this.trash.erase(trash);
    await removeFiles(entry);
  }

  /**
   * Removes the oldest entries beyond the limits, leftovers of crashes, and entries of any journal that are too old.
   */
  async #prune(directory: string, keep: string): Promise<void> {
    const entries = (await entriesIn(directory)).toReversed();
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const tooMuch = index >= this.#options.maxEntries || bytes > this.#options.maxBytes;
      if (tooMuch && entry.id !== keep) await this.#remove(entry);
    }
    await removeOrphans(directory, new Set(entries.map(({ id }) => id)));
    // Each journal has its own retention time.
    for await (const journal of journalsIn(join(directory, ".."))) {
      const oldest = idAt(Date.now() - journal.days * DAY_MS);
      for (const entry of await entriesIn(journal.directory)) {
        if (entry.id < oldest) await this.#remove(entry);
      }
    }
  }
}

function pathsOf(change: Change): string[] {
  return stepsOf(change).flatMap(({ path, destination }) =>
    destination === undefined ? [path] : [path, destination],
  );
}

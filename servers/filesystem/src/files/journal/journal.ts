import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@refmcp/core/answer";
import type { Bound } from "@refmcp/core/boundary";
import { type Change, changeSchema } from "./change-record.ts";
import { codeOf, openStateDirectory, within } from "./journal-directory.ts";

export interface JournalOptions {
  /** Where it may live, best first; see `stateDirectories`. */
  readonly directories: readonly string[];
  readonly bound: Bound;
  /** False keeps no journal (`--no-journal`). */
  readonly enabled: boolean;
  /** Bytes of all images together. */
  readonly mostBytes?: number;
  readonly mostEntries?: number;
  /** Bytes of one image. */
  readonly mostImageBytes?: number;
}

const ENTRY_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.(\d+)\.json$/;
const IMAGE_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.image$/;
/** An image without an entry is the rest of a crash when it is older than this; younger, it may be in the making. */
const ORPHAN_MS = 3_600_000;
/** The directory is looked through for what is too much once in so many entries. */
const PRUNE_EVERY = 20;

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
}

/**
 * The record of changes: one file per change, `<id>.<bytes of its image>.json`, and beside it `<id>.image`, what
 * stood there before (a file, a directory or a link). Ids sort by time. Since every change has files of its own,
 * several server processes share a journal without a lock, and a crash can at worst leave one file too many.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly mostImageBytes: number;
  /** Entries never change, so what was read once is kept. */
  readonly #cache = new Map<string, Change>();
  readonly #listeners = new Set<() => void>();
  #sincePrune = PRUNE_EVERY;
  #lastTime = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.mostImageBytes = options.mostImageBytes ?? 100 * 1024 * 1024;
  }

  /** Its directory, made where it is missing (`create`); or why there is no journal. */
  async open({ create = true } = {}): Promise<{ directory: string } | { reason: string }> {
    if (!this.#options.enabled) return { reason: "the journal is off (--no-journal)" };
    const opened = await openStateDirectory(this.#options.directories, this.#options.bound, create);
    return "reason" in opened ? { reason: `there is no journal: ${opened.reason}` } : opened;
  }

  /** A new id, later than all that this process gave out. */
  newId(): string {
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
    return `${this.#lastTime.toString(36).padStart(9, "0")}-${randomBytes(3).toString("hex")}`;
  }

  /** Where the image of a change lies or will lie. */
  imagePath(directory: string, id: string): string {
    return join(directory, `${id}.image`);
  }

  /** Records a change whose image, of `bytes` bytes, is in place. It is written before the change is made. */
  async write(directory: string, change: Change, bytes: number): Promise<void> {
    const name = `${change.id}.${bytes}.json`;
    const draft = join(directory, `${name}.tmp`);
    await writeFile(draft, JSON.stringify(change), { mode: 0o600, flag: "wx" });
    await rename(draft, join(directory, name));
    this.#cache.set(change.id, change);
    for (const listener of this.#listeners) listener();
    this.#sincePrune += 1;
    if (this.#sincePrune >= PRUNE_EVERY || bytes > this.#mostBytes / PRUNE_EVERY) {
      this.#sincePrune = 0;
      await this.#prune(directory, change.id);
    }
  }

  /** Calls back after each entry of this process; returns a function that stops it. */
  onWrite(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Takes back `write` and the image, after a change that failed. */
  async drop(directory: string, id: string): Promise<void> {
    this.#cache.delete(id);
    for (const entry of await listed(directory)) {
      if (entry.id === id) await rm(join(directory, entry.name), { force: true });
    }
    await rm(this.imagePath(directory, id), { recursive: true, force: true });
  }

  /**
   * The recorded changes inside the bound, newest first.
   *
   * @param range.before only those older than this id.
   * @param range.below only those at or below this absolute path.
   */
  async list(range: {
    before?: string | undefined;
    below?: string | undefined;
    limit: number;
  }): Promise<Change[]> {
    const opened = await this.open({ create: false });
    if ("reason" in opened) throw unavailable(opened.reason);
    const found: Change[] = [];
    for (const { id, name } of (await listed(opened.directory)).toReversed()) {
      if (found.length === range.limit) break;
      if (range.before !== undefined && id >= range.before) continue;
      const change = await this.#read(opened.directory, id, name);
      if (change === undefined || !this.#visible(change)) continue;
      const below = range.below;
      if (below !== undefined && !pathsOf(change).some((path) => within(path, below))) continue;
      found.push(change);
    }
    return found;
  }

  /**
   * One change.
   *
   * @throws ToolError `not_found` where there is none of this id inside the bound, `unavailable` without a journal.
   */
  async get(id: string): Promise<{ directory: string; change: Change }> {
    const opened = await this.open({ create: false });
    if ("reason" in opened) throw unavailable(opened.reason);
    const entry = (await listed(opened.directory)).find((one) => one.id === id);
    const change = entry === undefined ? undefined : await this.#read(opened.directory, id, entry.name);
    if (change === undefined || !this.#visible(change)) {
      throw new ToolError("not_found", `There is no change ${JSON.stringify(id)} in the journal.`, {
        hint: "list_changes shows the changes that are kept, newest first.",
      });
    }
    return { directory: opened.directory, change };
  }

  /** The newest undo of each change: id of the change → id of its undo. */
  async undone(): Promise<Map<string, string>> {
    const undone = new Map<string, string>();
    const opened = await this.open({ create: false });
    if ("reason" in opened) return undone;
    for (const { id, name } of await listed(opened.directory)) {
      const change = await this.#read(opened.directory, id, name);
      if (change?.undoes !== undefined) undone.set(change.undoes, id);
    }
    return undone;
  }

  get #mostBytes(): number {
    return this.#options.mostBytes ?? 200 * 1024 * 1024;
  }

  /** Another server's roots are none of this one's business. */
  #visible(change: Change): boolean {
    const allowed = this.#options.bound.directories().flatMap(({ path, realPath }) => [path, realPath]);
    return pathsOf(change).every((path) => allowed.some((directory) => within(path, directory)));
  }

  async #read(directory: string, id: string, name: string): Promise<Change | undefined> {
    const known = this.#cache.get(id);
    if (known !== undefined) return known;
    try {
      const parsed = changeSchema.safeParse(JSON.parse(await readFile(join(directory, name), "utf8")));
      if (!parsed.success || parsed.data.id !== id) return undefined;
      this.#cache.set(id, parsed.data);
      return parsed.data;
    } catch {
      // Pruned by another process in this moment, or damaged: not there.
      return undefined;
    }
  }

  /** Drops the oldest entries beyond the bounds, and what a crash left behind. */
  async #prune(directory: string, keep: string): Promise<void> {
    const entries = (await listed(directory)).toReversed();
    const known = new Set(entries.map(({ id }) => id));
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const tooMuch = index >= (this.#options.mostEntries ?? 1000) || bytes > this.#mostBytes;
      if (tooMuch && entry.id !== keep) await this.drop(directory, entry.id);
    }
    const oldest = (Date.now() - ORPHAN_MS).toString(36).padStart(9, "0");
    for (const name of await readdir(directory)) {
      const id = IMAGE_NAME.exec(name)?.[1] ?? (name.endsWith(".tmp") ? name : undefined);
      if (id === undefined || known.has(id) || id >= oldest) continue;
      await rm(join(directory, name), { recursive: true, force: true });
    }
  }
}

function pathsOf(change: Change): string[] {
  return change.destination === undefined ? [change.path] : [change.path, change.destination];
}

/** The entries in the order of time. */
async function listed(directory: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const name of await readdir(directory).catch(noneIfMissing)) {
    const [, id, bytes] = ENTRY_NAME.exec(name) ?? [];
    if (id !== undefined) found.push({ id, name, bytes: Number(bytes) });
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Before the first change there is no directory. */
function noneIfMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}

function unavailable(reason: string): ToolError {
  return new ToolError("unavailable", `No change is recorded: ${reason}.`, {
    hint: "Ask the user to start the server without --no-journal, with directories that do not contain its state directory.",
  });
}

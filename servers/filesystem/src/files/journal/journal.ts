import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AllowedDirectories, errorCode } from "@refmcp/boundary";
import { sized, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type Change, changeSchema } from "./change-record.ts";
import { openStateDirectory, within } from "./journal-directory.ts";

export interface JournalOptions {
  /** Candidate directories in order of preference; see `stateDirectories`. */
  readonly directories: readonly string[];
  readonly allowed: AllowedDirectories;
  /** False for no journal (`--no-journal`). */
  readonly enabled: boolean;
  /** Maximum bytes of all images of an allowed directory. */
  readonly maxBytes?: number;
  /** Maximum changes of an allowed directory. */
  readonly maxEntries?: number;
  /** How many days a change is kept. */
  readonly maxDays?: number;
  /** Maximum bytes of an image. */
  readonly maxImageBytes?: number;
}

const DEFAULTS = {
  maxBytes: 200 * 1024 * 1024,
  maxEntries: 1000,
  maxDays: 30,
  maxImageBytes: 100 * 1024 * 1024,
};

const ENTRY_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.(\d+)(?:\.([0-9a-z]{9}-[0-9a-f]{6}))?\.json$/;
const IMAGE_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.image$/;
/** The file in a journal that names its directory. */
const OWNER_NAME = "directory.json";
const ownerSchema = z.object({ path: z.string(), days: z.number() });
const DAY_MS = 86_400_000;
/** An image without an entry that is older than this was left by a crash; a newer one may still be in progress. */
const ORPHAN_MS = 3_600_000;
/** How many entries are written between checks of the limits. */
const PRUNE_EVERY = 20;
/** A more recent change may still be in progress, here or in another process, and is not dropped. */
const RECENT_MS = 60_000;
/** The disk space of an entry without its image, in bytes. */
const ENTRY_BYTES = 4_096;

/** An entry, parsed from its file name. */
interface Listed {
  readonly directory: string;
  readonly id: string;
  readonly name: string;
  /** The size of its image. */
  readonly bytes: number;
  /** The change that it undid. */
  readonly undoes: string | undefined;
}

/**
 * The record of changes. Each allowed directory has its own journal directory, so activity in one does not displace
 * changes in another. A change is one file, `<id>.<bytes of its image>.json` (for an undo also with the change that it
 * undid), and its image is `<id>.image`: the previous file, directory or link. Ids sort by time. Since every change has
 * its own files, several server processes can share a journal without a lock, and a crash leaves at most one extra
 * file.
 */
export class Journal {
  readonly #options: Required<JournalOptions>;
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
    this.maxImageBytes = this.#options.maxImageBytes;
  }

  /** The journal for changes at an absolute path, created if it is missing; or the reason why there is none. */
  async open(path: string): Promise<{ directory: string } | { reason: string }> {
    const opened = await this.#openAll(true);
    if ("reason" in opened) return opened;
    const { path: owner } = this.#options.allowed
      .directories()
      .flatMap((one) => [one.path, one.realPath].map((at) => ({ path: one.realPath, at })))
      .filter(({ at }) => within(path, at))
      .reduce((best, one) => (one.at.length > best.at.length ? one : best), { path, at: "" });
    const directory = join(opened.directory, createHash("sha256").update(owner).digest("hex").slice(0, 16));
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      if (!this.#sincePrune.has(directory)) {
        // Written atomically: a half-written one would hide the whole journal.
        await this.#put(directory, OWNER_NAME, JSON.stringify({ path: owner, days: this.#options.maxDays }));
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

  /** The directory of all journals. */
  async #openAll(create: boolean): Promise<{ directory: string } | { reason: string }> {
    if (!this.#options.enabled) return { reason: "the journal is off (--no-journal)" };
    const opened = await openStateDirectory(this.#options.directories, this.#options.allowed, create);
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

  /** Where the image of a change is or will be stored. */
  imagePath(directory: string, id: string): string {
    return join(directory, `${id}.image`);
  }

  /** Records a change whose image (`bytes` bytes) is in place. The record is written before the change is made. */
  async write(directory: string, change: Change, bytes: number): Promise<void> {
    const undoes = change.undoes === undefined ? "" : `.${change.undoes}`;
    const name = `${change.id}.${bytes}${undoes}.json`;
    await this.#put(directory, name, JSON.stringify(change), change.undoes);
    this.#cache.set(change.id, change);
    for (const listener of this.#listeners) listener();
    const since = (this.#sincePrune.get(directory) ?? 0) + 1;
    const isDue = since > PRUNE_EVERY || bytes > this.#options.maxBytes / PRUNE_EVERY;
    this.#sincePrune.set(directory, isDue ? 0 : since);
    if (isDue) await this.#prune(directory, change.id);
  }

  /** Writes a file of a journal completely or not at all. */
  async #put(directory: string, name: string, text: string, keep?: string): Promise<void> {
    const draft = join(directory, `${this.newId()}.tmp`);
    try {
      await this.withRoom(directory, { bytes: text.length, keep }, () =>
        writeFile(draft, text, { mode: 0o600 }),
      );
      await rename(draft, join(directory, name));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  /**
   * Runs work that needs space on the journal's disk. If the disk is full, the oldest changes of this journal are
   * dropped until there is enough space.
   *
   * @param need.keep a change that must be kept.
   */
  async withRoom<Value>(
    directory: string,
    { bytes, keep }: { bytes: number; keep?: string | undefined },
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

  async #makeRoom(directory: string, bytes: number, keep: string | undefined): Promise<boolean> {
    const recent = idAt(Date.now() - RECENT_MS);
    let freed = 0;
    for (const entry of await listed(directory)) {
      if (freed >= bytes || entry.id >= recent) break;
      if (entry.id === keep) continue;
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
    const entry = (await listed(directory)).find((one) => one.id === id);
    await this.#remove(entry ?? { directory, id, name: `${id}.0.json`, bytes: 0, undoes: undefined });
  }

  /**
   * The recorded changes inside the bound, newest first.
   *
   * @param range.before only changes older than this id.
   * @param range.below only changes at or below this absolute path.
   */
  async list(range: {
    before?: string | undefined;
    below?: string | undefined;
    limit: number;
  }): Promise<Change[]> {
    const found: Change[] = [];
    for (const entry of (await this.#entries()).toReversed()) {
      if (found.length === range.limit) break;
      if (range.before !== undefined && entry.id >= range.before) continue;
      const change = await this.#read(entry);
      if (change === undefined) continue;
      const below = range.below;
      if (below !== undefined && !pathsOf(change).some((path) => within(path, below))) continue;
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
    const change = entry === undefined ? undefined : await this.#read(entry);
    if (entry === undefined || change === undefined) {
      throw new ToolError("not_found", `The journal has no change ${JSON.stringify(id)}.`, {
        hint: "list_changes lists the recorded changes, newest first.",
      });
    }
    return { directory: entry.directory, change };
  }

  /** The latest undo of each change: id of the change → id of its undo. */
  async undone(): Promise<Map<string, string>> {
    const entries = await this.#entries();
    return new Map(
      entries.flatMap(({ id, undoes }): [string, string][] => (undoes === undefined ? [] : [[undoes, id]])),
    );
  }

  /** Erases all recorded changes inside the bound, with their images. */
  async forget(): Promise<void> {
    for (const entry of await this.#entries().catch(() => [])) {
      if ((await this.#read(entry)) !== undefined) await this.#remove(entry);
    }
  }

  /** Changes outside this server's directories are not shown. */
  #visible(change: Change): boolean {
    const allowed = this.#options.allowed.directories().flatMap(({ path, realPath }) => [path, realPath]);
    return pathsOf(change).every((path) => allowed.some((directory) => within(path, directory)));
  }

  /** The entries of all journals that may concern the allowed directories, by time. */
  async #entries(): Promise<Listed[]> {
    const opened = await this.#openAll(false);
    if ("reason" in opened) throw unavailable(opened.reason);
    const allowed = this.#options.allowed.directories();
    const found: Listed[] = [];
    for await (const { directory, path } of journalsIn(opened.directory)) {
      const isNear = allowed.some(({ realPath }) => within(path, realPath) || within(realPath, path));
      if (isNear) found.push(...(await listed(directory)));
    }
    return found.sort(byId);
  }

  /** Undefined for a change outside this server's directories. */
  async #read({ directory, id, name }: Listed): Promise<Change | undefined> {
    let change = this.#cache.get(id);
    try {
      change ??= changeSchema.parse(JSON.parse(await readFile(join(directory, name), "utf8")));
    } catch {
      // Pruned by another process, or damaged; treated as missing.
      return undefined;
    }
    this.#cache.set(id, change);
    return change.id === id && this.#visible(change) ? change : undefined;
  }

  async #remove({ directory, id, name }: Listed): Promise<void> {
    this.#cache.delete(id);
    await rm(join(directory, name), { force: true });
    await rm(this.imagePath(directory, id), { recursive: true, force: true });
  }

  /**
   * Removes the oldest entries beyond the limits, leftovers of crashes, and entries of any journal that are too old.
   */
  async #prune(directory: string, keep: string): Promise<void> {
    const entries = (await listed(directory)).toReversed();
    const known = new Set(entries.map(({ id }) => id));
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const tooMuch = index >= this.#options.maxEntries || bytes > this.#options.maxBytes;
      if (tooMuch && entry.id !== keep) await this.#remove(entry);
    }
    const oldest = idAt(Date.now() - ORPHAN_MS);
    for (const name of await namesIn(directory)) {
      const id = IMAGE_NAME.exec(name)?.[1] ?? (name.endsWith(".tmp") ? name : undefined);
      if (id === undefined || known.has(id) || id >= oldest) continue;
      await rm(join(directory, name), { recursive: true, force: true });
    }
    // Each journal has its own retention time.
    for await (const journal of journalsIn(join(directory, ".."))) {
      const oldest = idAt(Date.now() - journal.days * DAY_MS);
      for (const entry of await listed(journal.directory)) if (entry.id < oldest) await this.#remove(entry);
    }
  }
}

/** The prefix of ids at a time. */
function idAt(time: number): string {
  return time.toString(36).padStart(9, "0");
}

/** All journals, each with its directory and the days that it keeps a change. */
async function* journalsIn(
  all: string,
): AsyncGenerator<z.output<typeof ownerSchema> & { directory: string }> {
  for (const name of await namesIn(all)) {
    const directory = join(all, name);
    const owner = await readFile(join(directory, OWNER_NAME), "utf8")
      .then((text) => ownerSchema.parse(JSON.parse(text)))
      .catch(() => undefined);
    if (owner !== undefined) yield { directory, ...owner };
  }
}

/** A change that cannot be recorded is not made, since the caller relies on undo. */
export function notJournaled(directory: string, cause: unknown): ToolError {
  return new ToolError(
    "unavailable",
    `The change was not made, because it could not be recorded in ${directory} (${errorCode(cause)}).`,
    { hint: "Ask the user to free space there, or to start the server with --no-journal.", cause },
  );
}

function pathsOf(change: Change): string[] {
  return change.destination === undefined ? [change.path] : [change.path, change.destination];
}

/** The entries by time. */
async function listed(directory: string): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const name of await namesIn(directory)) {
    const [, id, bytes, undoes] = ENTRY_NAME.exec(name) ?? [];
    if (id !== undefined) found.push({ directory, id, name, bytes: Number(bytes), undoes });
  }
  return found.sort(byId);
}

function byId(a: Listed, b: Listed): number {
  return a.id < b.id ? -1 : 1;
}

/** None before the first change, when the directory does not exist yet. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function unavailable(reason: string): ToolError {
  return new ToolError("unavailable", `No change is recorded: ${reason}.`, {
    hint: "Ask the user to start the server without --no-journal, and with directories that do not contain its state directory.",
  });
}

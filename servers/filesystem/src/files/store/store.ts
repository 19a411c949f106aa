import { randomUUID } from "node:crypto";
import { lstatSync, statSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  type AllowedDirectories,
  ensureDirectory,
  errorCode,
  openStateDirectory,
  ownDirectory,
  realPathOf,
  type WalkedDirectory,
  within,
} from "@refmcp/boundary";
import { sizeOf, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import { type Change, parseRecord, type RecordedStep } from "./record.ts";
import { openTrash, TRASH } from "./trash.ts";

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** A file up to this size on another disk is copied rather than kept in a directory next to the user's files. */
const SMALL_BYTES = MIB;
/** How many changes are recorded between checks of the limits. */
const PRUNE_EVERY = 50;
/** An image without a record that is older than this was left by a crash. */
const ORPHAN_MS = 3_600_000;

const ID = "[0-9a-z]{9}-[0-9a-f]{6}";
const RECORD_NAME = new RegExp(`^(${ID})\\.(\\d+)\\.(\\d+)(?:\\.(${ID}))?\\.json$`);
const IMAGE_NAME = new RegExp(`^(${ID})\\.\\d+\\.(\\d+)$`);

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

const NOT_LASTING =
  "Changes are kept in a temporary directory, so perhaps not after a restart; to keep them elsewhere, start the server with --journal-dir.";

/** What an answer says about the record of a change. */
export interface Receipt {
  /** For `undo_change`; undefined if nothing is kept. */
  readonly changeId: string | undefined;
  /** Why it cannot be undone; undefined if it can. */
  readonly final: string | undefined;
  readonly note?: string | undefined;
}

/** A recorded change, as the name of its file says. */
interface Entry {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  /** How many days it is kept, by the options of the server that made it. */
  readonly days: number;
  readonly undoes: string | undefined;
}

/** The beginning of the ids of this time; ids sort by time. */
function idAt(time: number): string {
  return time.toString(36).padStart(9, "0");
}

/** None before the first change, when the directory does not exist yet. */
async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
}

/**
 * What this server changed, and the entries that were there before. A change is one file, `<id>.<bytes of its
 * images>.<days to keep it>.json` (for an undo also with the change that it undid); its images are `images/<id>.<number>.<days>` or, on
 * another disk, in a `.refmcp-trash`. Since every change has its own files, several server processes can share a journal without
 * a lock, and a crash leaves at most one extra file.
 */
export class Store {
  readonly #options: Required<StoreOptions>;
  /** Complete records never change. */
  readonly #cache = new Map<string, Change>();
  #sincePrune = PRUNE_EVERY;
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
    return `${idAt(this.#lastTime)}-${randomUUID().slice(0, 6)}`;
  }

  /** The name of a change's file. @param bytes of its images */
  recordName({ id, undoes }: Pick<Change, "id" | "undoes">, bytes: number): string {
    return `${id}.${bytes}.${this.#options.days}${undoes === undefined ? "" : `.${undoes}`}.json`;
  }

  /** The name of a change's image with a number. */
  imageName(id: string, number: number): string {
    return `${id}.${number}.${this.#options.days}`;
  }

  /** The journal's directory, for new records. @throws ToolError `unavailable` if there can be none. */
  async journal(): Promise<string> {
    const journal = await this.#open(true);
    try {
      ensureDirectory(join(journal, "images"), 0o700);
    } catch (error) {
      throw notRecorded(journal, error);
    }
    return journal;
  }

  async #open(create: boolean): Promise<string> {
    const { directories, allowed } = this.#options;
    const place = openStateDirectory(directories, allowed, { name: "journal", create });
    if ("directory" in place) {
      this.#note = place.lasting ? undefined : NOT_LASTING;
      return place.directory;
    }
    throw failure("no_journal", `Changes cannot be recorded: ${place.reason}.`);
  }

  /** Completes a change whose record is written. */
  async ended(journal: string, change: Change, bytes: number): Promise<Receipt> {
    const { id } = change;
    this.#cache.set(id, change);
    if (!this.keeps) {
      await this.#remove(journal, { id, name: this.recordName(change, bytes) });
      return { changeId: undefined, final: "nothing is kept (--journal-days 0)" };
    }
    this.#sincePrune += 1;
    if (this.#sincePrune > PRUNE_EVERY || bytes > this.#options.maxBytes / PRUNE_EVERY) {
      this.#sincePrune = 0;
      await this.#prune(journal, id);
    }
    return { changeId: id, final: undefined, note: this.#note };
  }

  /**
   * Where the entry at an absolute real path is kept: by renaming it (`isSameDisk`) or by copying it.
   *
   * @param bytes its size; unknown for a directory
   */
  imagePlace(journal: string, realPath: string, bytes: number | undefined) {
    const own = join(journal, "images");
    const device = statSync(dirname(realPath)).dev;
    if (statSync(own).dev === device) return { directory: own, isSameDisk: true };
    const isSmall = bytes !== undefined && bytes <= SMALL_BYTES;
    for (const { realPath: root, writable } of isSmall ? [] : this.#options.allowed.directories()) {
      if (!writable || !within(realPath, root) || statSync(root).dev !== device) continue;
      const trash = openTrash(join(root, TRASH));
      if (trash === undefined) continue;
      trash.close();
      return { directory: trash.realPath, isSameDisk: true };
    }
    return { directory: own, isSameDisk: false };
  }

  /** What an image counts against the limit; one that is never copied does not, at any size. */
  countedBytes(bytes: number): number {
    return bytes <= this.#options.maxCopiedBytes ? bytes : 0;
  }

  /** @throws ToolError `too_large` for what is too large to be copied. */
  requireCopyable(path: string, bytes: number): void {
    const { maxCopiedBytes } = this.#options;
    if (bytes <= maxCopiedBytes) return;
    const what = `${named(path)} was not changed: its ${sizeOf(bytes)} exceed the ${sizeOf(maxCopiedBytes)} that can be copied for undo_change, and it cannot be renamed to a place on its disk.`;
    throw failure("not_kept", what);
  }

  /** Opens the directory of a recorded image. @throws ToolError `conflict` if the image is gone. */
  openImage(image: string): WalkedDirectory {
    try {
      const directory = ownDirectory(dirname(image));
      const isThere = lstatSync(directory.entry(basename(image)), { throwIfNoEntry: false });
      if (this.#isOurs(image) && isThere) return directory;
      directory.close();
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
    throw failure("image_missing", "The content that was kept for it no longer exists.");
  }

  /** A record could name any path. */
  #isOurs(image: string): boolean {
    const isHidden = this.#options.allowed.hidden?.hides(realPathOf(dirname(image))) !== false;
    return isHidden && IMAGE_NAME.test(basename(image));
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
    for (const entry of await this.#entries()) {
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
    const entry = (await this.#entries()).find((candidate) => candidate.id === id);
    const change = entry && (await this.#read(entry));
    if (change !== undefined) return change;
    throw failure("no_change", `The journal has no change ${JSON.stringify(id)}.`);
  }

  /** The latest undo of each change: id of the change → id of its undo. */
  async undone(): Promise<Map<string, string>> {
    const entries = (await this.#entries()).toReversed();
    return new Map(
      entries.flatMap(({ id, undoes }) => (undoes === undefined ? [] : [[undoes, id]])),
    );
  }

  /** Erases what earlier processes kept for the allowed directories, if nothing is to be kept. */
  async eraseUnwanted(): Promise<void> {
    if (this.keeps) return;
    const journal = await this.#open(false).catch(() => undefined);
    for (const entry of journal === undefined ? [] : await this.#entriesIn(journal))
      if ((await this.#read(entry)) !== undefined) await this.#remove(journal ?? "", entry);
  }

  async #entries(): Promise<Entry[]> {
    if (this.keeps) return this.#entriesIn(await this.#open(false));
    throw failure("no_journal", "No change is recorded: nothing is kept (--journal-days 0).");
  }

  /** Newest first. */
  async #entriesIn(journal: string): Promise<Entry[]> {
    const names = (await namesIn(journal)).sort().reverse();
    return names.flatMap((name) => {
      const [, id, bytes, days, undoes] = RECORD_NAME.exec(name) ?? [];
      if (id === undefined) return [];
      return [{ id, name, bytes: Number(bytes), days: Number(days), undoes }];
    });
  }

  /** Undefined for a change outside this server's directories, which is not shown, or a damaged record. */
  async #read(entry: Entry): Promise<Change | undefined> {
    const change = this.#cache.get(entry.id) ?? (await this.#parsed(entry));
    if (change === undefined) return undefined;
    // The record of another process may still grow.
    if (!change.interrupted) this.#cache.set(entry.id, change);
    const roots = this.#options.allowed.directories().flatMap((root) => [root.path, root.realPath]);
    const isVisible = pathsOf(change).every((path) => roots.some((root) => within(path, root)));
    return change.id === entry.id && isVisible ? change : undefined;
  }

  async #parsed({ name }: { name: string }): Promise<Change | undefined> {
    try {
      return parseRecord(await readFile(join(await this.#open(false), name), "utf8"));
    } catch {
      // Another process has pruned it, or it is damaged.
      return undefined;
    }
  }

  async #remove(journal: string, entry: Pick<Entry, "id" | "name">): Promise<void> {
    const { steps = [] } = this.#cache.get(entry.id) ?? (await this.#parsed(entry)) ?? {};
    this.#cache.delete(entry.id);
    await this.erase(steps);
    await rm(join(journal, entry.name), { force: true });
  }

  /** Erases the images of steps. */
  async erase(steps: readonly RecordedStep[]): Promise<void> {
    for (const step of steps)
      if ("image" in step && step.image !== undefined && this.#isOurs(step.image))
        await rm(step.image, { recursive: true, force: true });
  }

  /** Removes changes that are too old, the oldest ones beyond the limits, and leftovers of crashes. */
  async #prune(journal: string, keep: string): Promise<void> {
    const { maxBytes, maxChanges } = this.#options;
    const entries = await this.#entriesIn(journal);
    let bytes = 0;
    for (const [index, entry] of entries.entries()) {
      bytes += entry.bytes;
      const isOld = entry.id < idAt(Date.now() - entry.days * DAY_MS);
      const isTooMuch = index >= maxChanges || bytes > maxBytes;
      if ((isOld || isTooMuch) && entry.id !== keep) await this.#remove(journal, entry);
    }
    const ids = new Set(entries.map(({ id }) => id));
    const trashes = this.#options.allowed.directories().map((root) => join(root.realPath, TRASH));
    for (const directory of [join(journal, "images"), ...trashes]) {
      const isOwn = dirname(directory) === journal;
      for (const name of await namesIn(directory).catch(() => [])) {
        const [, id, days] = IMAGE_NAME.exec(name) ?? [];
        // What is in a trash may belong to another journal, which keeps it for its own time.
        const keptMs = Math.max(ORPHAN_MS, isOwn ? 0 : Number(days) * DAY_MS);
        if (id === undefined || id >= idAt(Date.now() - keptMs) || ids.has(id)) continue;
        await rm(join(directory, name), { recursive: true, force: true });
      }
    }
  }
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

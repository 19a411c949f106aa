import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type AllowedDirectories,
  ensureDirectory,
  errorCode,
  openStateDirectory,
} from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { withNear } from "../answer/names.ts";
import { type ChangeSummary, type Recording, readSummary } from "./record.ts";

/** The directory of the records in the user's state directory. */
export const CHANGES_NAME = "changes";

const MAX_CHANGES = 1_000;
const MAX_BYTES = 512 * 1_048_576;
const DAY_MS = 86_400_000;
/** A pending record of a change that may still be in progress is not dropped. */
const RECENT_MS = 3_600_000;
/** Changes between two checks of the bounds. */
const PRUNE_EVERY = 20;
const ID_CHARS = 16;
const FILE = /^[0-9a-z]{9}-[0-9a-f]{6}\.(change|pending|rows)$/;

export interface ChangeStoreOptions {
  /** Candidates in order of preference; see `stateDirectories`. */
  readonly directories: readonly string[];
  readonly allowed: AllowedDirectories;
  readonly enabled: boolean;
  readonly days: number;
}

/** A recorded change. */
export interface RecordedChange extends ChangeSummary {
  readonly path: string;
  /** Its process ended before it knew whether the database committed it. */
  readonly isPending: boolean;
  /** The change that undid it, unless that was undone in turn. */
  readonly undoneBy?: string | undefined;
}

/**
 * The record of changes to databases, in the user's state directory. A change is one private file, and each database has its
 * own directory, so several servers can share the record without a lock. Per database it keeps 1,000 changes and 512 MB, for
 * `days`; the oldest are dropped first.
 */
export class ChangeStore {
  readonly #options: ChangeStoreOptions;
  #slots = 0;
  #lastTime = 0;
  #opened: { readonly directory: string } | undefined;

  constructor(options: ChangeStoreOptions) {
    this.#options = options;
  }

  /** For the answer about a change that is recorded. */
  get copyNote(): string {
    const { days } = this.#options;
    return `A copy of the changed rows is kept on this computer for ${days} ${days === 1 ? "day" : "days"}, to undo this (--undo-days).`;
  }

  /** Where to record the next change of a database; or why it can't be recorded. */
  async slot(database: string): Promise<Recording> {
    const opened = await this.#open(true);
    if ("reason" in opened) return opened;
    const directory = join(opened.directory, nameOf(database));
    try {
      ensureDirectory(directory, 0o700);
    } catch (error) {
      return { reason: `the record of changes ${directory} cannot be used (${errorCode(error)})` };
    }
    if (this.#slots % PRUNE_EVERY === 0) this.#prune(opened.directory);
    this.#slots += 1;
    // Ids sort by time, also those of one millisecond.
    this.#lastTime = Math.max(this.#lastTime + 1, Date.now());
    const id = `${this.#lastTime.toString(36).padStart(9, "0")}-${randomBytes(3).toString("hex")}`;
    return { directory, id };
  }

  /** The changes of a database, newest first. */
  async list(database: string): Promise<RecordedChange[]> {
    const opened = await this.#open(false);
    if ("reason" in opened) return [];
    this.#prune(opened.directory);
    const directory = join(opened.directory, nameOf(database));
    const records = namesIn(directory).flatMap((name) => {
      const path = join(directory, name);
      const summary = /\.(change|pending)$/.test(name) ? readSummary(path) : undefined;
      return summary === undefined
        ? []
        : [{ ...summary, path, isPending: name.endsWith(".pending") }];
    });
    const changes = records.sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1));
    const undone = new Map<string, string>();
    // Newest first: an undo that was undone itself no longer counts.
    for (const { id, undoes } of changes)
      if (undoes !== undefined && !undone.has(id) && !undone.has(undoes)) undone.set(undoes, id);
    return changes.map((change) => ({ ...change, undoneBy: undone.get(change.id) }));
  }

  /** A change that can be undone. @throws ToolError `not_found`, or `conflict` if it has been undone */
  async find(database: string, id: string): Promise<RecordedChange> {
    const changes = await this.list(database);
    const change = changes.find((recorded) => recorded.id === id);
    const ids = changes.map((recorded) => recorded.id);
    const hint = "The list of changes has the ids. Old changes are dropped (--undo-days).";
    if (change === undefined) throw withNear("recorded change", id, ids, hint);
    if (change.undoneBy !== undefined)
      throw new ToolError("conflict", `Change ${id} was already undone by ${change.undoneBy}.`, {
        hint: `To make it again, undo ${change.undoneBy}.`,
      });
    return change;
  }

  /** Erases what is too old, or the whole record, also if changes are no longer recorded. */
  async erase(isWhole: boolean): Promise<void> {
    const opened = await this.#open(false, true);
    if ("reason" in opened) return;
    if (isWhole) rmSync(opened.directory, { recursive: true, force: true });
    else this.#prune(opened.directory);
  }

  async #open(
    create: boolean,
    always = false,
  ): Promise<{ directory: string } | { reason: string }> {
    if (this.#opened !== undefined && create) return this.#opened;
    const { enabled, directories, allowed } = this.#options;
    if (!enabled && !always) return { reason: "the record of changes is off (--no-undo)" };
    const opened = await openStateDirectory(directories, allowed, { name: CHANGES_NAME, create });
    if ("reason" in opened) return { reason: `there is no record of changes: ${opened.reason}` };
    if (create) this.#opened = opened;
    return opened;
  }

  /** Drops what is beyond the bounds: by age everywhere, by number and size in each database. */
  #prune(root: string): void {
    for (const database of namesIn(root)) {
      const directory = join(root, database);
      const files = namesIn(directory).filter((name) => FILE.test(name));
      const ids = [...new Set(files.map((name) => name.slice(0, ID_CHARS)))].sort().reverse();
      let bytes = 0;
      for (const [index, id] of ids.entries()) {
        const paths = files
          .filter((name) => name.startsWith(id))
          .map((name) => join(directory, name));
        const stats = paths.flatMap((path) => statSync(path, { throwIfNoEntry: false }) ?? []);
        const age = Date.now() - Math.min(...stats.map(({ mtimeMs }) => mtimeMs));
        const isCommitted = paths.some((path) => path.endsWith(".change"));
        if (!isCommitted && age < RECENT_MS) continue;
        bytes += stats.reduce((sum, { size }) => sum + size, 0);
        const isOver =
          index >= MAX_CHANGES || bytes > MAX_BYTES || age > this.#options.days * DAY_MS;
        const isTorn = !isCommitted && readSummary(join(directory, `${id}.pending`)) === undefined;
        if (isOver || isTorn) for (const path of paths) rmSync(path, { force: true });
      }
    }
  }
}

/** Sorts changes as they were made: an id is from before its change had the database for itself. */
export const orderOf = ({ time, id }: ChangeSummary) => `${time} ${id}`;

const nameOf = (database: string) =>
  createHash("sha256").update(database).digest("hex").slice(0, 16);

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

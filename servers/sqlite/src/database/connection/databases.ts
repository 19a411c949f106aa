import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import type { PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type ChangeStore,
  type Limits,
  type LimitValues,
  limitsOf,
  type RecordedChange,
  ResultStore,
  withNear,
} from "@refmcp/sql";
import type { FileVersion, Recording } from "../writing/change.ts";
import type { Place } from "./handle.ts";
import { Leases, Runners } from "./runners.ts";

export interface DatabasesOptions extends LimitValues {
  /** Databases that the user named; `--db-path` is `main`. */
  readonly files: readonly { readonly name: string; readonly value: string }[];
  readonly guard: PathGuard;
  /** The record of changes. */
  readonly changes: ChangeStore;
  readonly allowDdl: boolean;
  readonly maxMemoryMb: number;
}

/** Only ends a process that hangs. The statement limit does not apply: a killed rollback would start again. */
const ROLLBACK_MS = 3_600_000;
/** How long an export or import waits for the previous one, in milliseconds. */
const TRANSFER_WAIT_MS = 120_000;

/** The databases that may be used, and the processes that run their statements. */
export class Databases {
  readonly options: DatabasesOptions;
  readonly runners: Runners;
  /** The same for the schema, which should not wait for long queries. */
  readonly catalog: Pick<Runners, "run">;
  /** For exports and imports, which queries should not wait for. */
  readonly transfers: Leases;
  /** For subscriptions, whose handles stay open. */
  readonly watchers: Leases;
  readonly watch: DataWatch;
  readonly results: ResultStore;
  /** Open files by their identity, for `versionOf`. */
  readonly #headers = new Map<string, number>();

  constructor(options: DatabasesOptions) {
    this.options = options;
    const memory = options.maxMemoryMb;
    this.runners = new Runners({ memory, max: 2 });
    this.catalog = { run: (op, job, run) => this.runners.run(op, job, run, true) };
    this.transfers = new Leases({ memory, max: 1, waitMs: TRANSFER_WAIT_MS });
    this.watchers = new Leases({ memory, max: MAX_WATCHED });
    this.results = new ResultStore(options.readAheadMb * 1_048_576);
    this.watch = new DataWatch(this);
  }

  limits(asked: { maxRows?: number | undefined; timeoutMs?: number | undefined } = {}): Limits {
    return limitsOf(this.options, asked);
  }

  /** What the record of changes knows a database by, however it is named. A new file with an old name is another database. */
  identityOf({ file }: Place): string {
    if (!existsSync(file)) return file;
    return `${realpathSync.native(file)} ${statSync(file, { bigint: true }).ino}`;
  }

  /**
   * The counters in the header of a database file: of commits, unless it is in WAL mode, and of schema changes. And when it was
   * created, since a new file may have an old inode, unless the file system shows the time of a change instead.
   */
  versionOf(place: Place): FileVersion | undefined {
    const identity = this.identityOf(place);
    if (!existsSync(place.file)) return undefined;
    // Not closed: that would end the locks that other code of this process has on the file.
    const file = this.#headers.get(identity) ?? openSync(place.file, "r");
    this.#headers.set(identity, file);
    const header = Buffer.alloc(44);
    if (readSync(file, header, 0, 44, 0) < 44) return undefined;
    const isWal = header[18] === 2;
    const { birthtimeNs, ctimeNs, mtimeNs } = statSync(place.file, { bigint: true });
    const isKnown = birthtimeNs !== ctimeNs && birthtimeNs !== mtimeNs;
    return {
      commits: isWal ? 0 : header.readUInt32BE(24),
      schemas: header.readUInt32BE(40),
      ...(isKnown && { created: String(birthtimeNs) }),
    };
  }

  /** The recorded changes of a database, newest first. @throws ToolError as `place` */
  async listChanges(database: string | undefined): Promise<RecordedChange[]> {
    return await this.options.changes.list(this.identityOf(await this.place(database)));
  }

  /** Where to record the next change of a database. */
  async recording(place: Place): Promise<Recording> {
    const database = this.identityOf(place);
    const slot = await this.options.changes.slot(database);
    return "reason" in slot ? slot : { ...slot, database, version: this.versionOf(place) };
  }

  names(): string[] {
    return this.options.files.map(({ name }) => name);
  }

  /**
   * The file of a `--db` name or of a path inside the allowed directories; by default, the first database.
   *
   * @throws ToolError `not_found`, or what the boundary throws
   */
  async place(database: string | undefined, make = false): Promise<Place> {
    const [first] = this.options.files;
    const named =
      database === undefined ? first : this.options.files.find(({ name }) => name === database);
    if (named !== undefined) {
      if (make && this.options.allowDdl && !existsSync(named.value))
        closeSync(openSync(named.value, "a"));
      return { file: named.value };
    }
    if (database === undefined)
      throw new ToolError("invalid", "No database is specified.", {
        hint: "Pass database: a path inside the allowed directories; or ask the user to start the server with --db-path FILE.",
      });
    const isPath = /[/\\.]/.test(database);
    if (!isPath)
      throw withNear(
        "database",
        database,
        this.names(),
        `Named databases: ${this.names().join(", ") || "none"}. A path also works.`,
      );
    const file = await this.options.guard.openFile(database);
    await file.handle.close();
    return { file: file.realPath, device: file.stat.dev, inode: file.stat.ino };
  }

  /** A killed process leaves a journal, which a reading handle can't roll back but an empty change does. */
  async recover(place: Place): Promise<void> {
    const nothing = {
      statements: [],
      dryRun: true,
      agreedLoss: undefined,
      recording: { reason: "nothing is changed" },
      returnedBytes: 0,
    };
    const run = { signal: new AbortController().signal, timeoutMs: ROLLBACK_MS };
    await this.runners.run("write", { place, ...nothing }, run).catch(() => undefined);
  }

  close(): void {
    this.watch.close();
    this.results.clear();
    for (const runners of [this.runners, this.transfers, this.watchers]) runners.close();
  }
}

const POLL_MS = 300;
/** Maximum databases watched at the same time; each takes a process. */
export const MAX_WATCHED = 8;

interface Watched {
  readonly listeners: Set<() => void>;
  readonly stop: AbortController;
  /** Resolves once commits are noticed. */
  readonly begun: Promise<void>;
}

/**
 * Notifies listeners of commits to a database by any process: while there are listeners, a handle that stays open runs
 * `PRAGMA data_version` three times a second.
 */
class DataWatch {
  readonly #databases: Databases;
  readonly #watched = new Map<string, Watched>();

  constructor(databases: Databases) {
    this.#databases = databases;
  }

  /**
   * Reports commits made after it resolves.
   *
   * @returns a function that stops it
   * @throws ToolError if there is no such database
   */
  async listen(database: string, changed: () => void): Promise<() => void> {
    const watched = this.#watched.get(database) ?? this.#begin(database);
    watched.listeners.add(changed);
    const leave = () => {
      watched.listeners.delete(changed);
      if (watched.listeners.size === 0) this.#end(database, watched);
    };
    try {
      await watched.begun;
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  close(): void {
    for (const [database, watched] of [...this.#watched]) this.#end(database, watched);
  }

  #end(database: string, watched: Watched): void {
    watched.stop.abort();
    if (this.#watched.get(database) === watched) this.#watched.delete(database);
  }

  #begin(database: string): Watched {
    if (this.#watched.size >= MAX_WATCHED)
      throw new ToolError(
        "unavailable",
        `${MAX_WATCHED} databases are already watched, which is the limit.`,
        {
          hint: "Unsubscribe from the resources of one of them first.",
        },
      );
    const listeners = new Set<() => void>();
    const stop = new AbortController();
    const watched = { listeners, stop, begun: this.#poll(database, listeners, stop.signal) };
    this.#watched.set(database, watched);
    return watched;
  }

  /** Resolves once the first version is known. */
  async #poll(
    database: string,
    listeners: ReadonlySet<() => void>,
    signal: AbortSignal,
  ): Promise<void> {
    const run = { signal, timeoutMs: this.#databases.limits().timeoutMs };
    const { file } = await this.#databases.place(database);
    await new Promise<void>((begun, failed) => {
      const watching = this.#databases.watchers.lease(file, run, async (ask) => {
        const look = async () =>
          await ask("version", { place: await this.#databases.place(database) });
        let version = await look();
        begun();
        while (!signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, POLL_MS).unref());
          // A file that is locked or missing for a moment is checked again.
          const now = await look().catch(() => version);
          if (now !== version) for (const listener of listeners) listener();
          version = now;
        }
      });
      watching.catch(failed);
    });
  }
}

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
  readonly results: ResultStore;
  /** Open files by their identity, for `versionOf`. */
  readonly #headers = new Map<string, number>();

  constructor(options: DatabasesOptions) {
    this.options = options;
    const memory = options.maxMemoryMb;
    this.runners = new Runners({ memory, max: 2 });
    this.catalog = { run: (op, job, run) => this.runners.run(op, job, run, true) };
    this.transfers = new Leases({ memory, max: 1, waitMs: TRANSFER_WAIT_MS });
    this.results = new ResultStore(options.readAheadMb * 1_048_576);
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
    this.results.clear();
    for (const runners of [this.runners, this.transfers]) runners.close();
  }
}

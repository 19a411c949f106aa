import { closeSync, existsSync, openSync, realpathSync } from "node:fs";
import type { PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { type Limits, type LimitValues, limitsOf, ResultStore, SessionLosses, withNear } from "@refmcp/sql";
import { Insights } from "../writing/insights.ts";
import { DataWatch, MAX_WATCHED } from "./data-watch.ts";
import type { Place } from "./handle.ts";
import { Runners } from "./runners.ts";

export interface DatabasesOptions extends LimitValues {
  /** Databases that the user named; `--db-path` is `main`. */
  readonly files: readonly { readonly name: string; readonly value: string }[];
  readonly guard: PathGuard;
  readonly allowDdl: boolean;
  readonly maxMemoryMb: number;
}

/** How long an export or import waits for the previous one, in milliseconds. */
const TRANSFER_WAIT_MS = 120_000;

/** The databases that may be used, and the processes that run their statements. */
export class Databases {
  readonly options: DatabasesOptions;
  readonly runners: Runners;
  /** For the schema, which should not wait for long queries. */
  readonly catalog: Runners;
  /** For exports and imports, which queries should not wait for. */
  readonly transfers: Runners;
  /** For subscriptions, whose handles stay open. */
  readonly watchers: Runners;
  readonly watch: DataWatch;
  readonly results: ResultStore;
  readonly insights = new Insights();
  readonly #losses = new Map<string, SessionLosses>();

  constructor(options: DatabasesOptions) {
    this.options = options;
    this.runners = new Runners({ memory: options.maxMemoryMb, max: 2 });
    this.catalog = new Runners({ memory: options.maxMemoryMb, max: 1, spare: "kept" });
    this.transfers = new Runners({
      memory: options.maxMemoryMb,
      max: 1,
      spare: "none",
      waitMs: TRANSFER_WAIT_MS,
    });
    this.watchers = new Runners({ memory: options.maxMemoryMb, max: MAX_WATCHED, spare: "none" });
    this.results = new ResultStore(options.readAheadMb * 1_048_576);
    this.watch = new DataWatch(this);
  }

  limits(asked: { maxRows?: number | undefined; timeoutMs?: number | undefined } = {}): Limits {
    return limitsOf(this.options, asked);
  }

  /** What this process changed in a database. */
  lossesOf({ file }: Place): SessionLosses {
    const known = this.#losses.get(file);
    if (known !== undefined) return known;
    // A named database may also be given by its path.
    const real = existsSync(file) ? realpathSync(file) : file;
    const losses = this.#losses.get(real) ?? new SessionLosses();
    for (const path of [file, real]) this.#losses.set(path, losses);
    return losses;
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
    const named = database === undefined ? first : this.options.files.find(({ name }) => name === database);
    if (named !== undefined) {
      if (make && this.options.allowDdl && !existsSync(named.value)) closeSync(openSync(named.value, "a"));
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

  close(): void {
    this.watch.close();
    this.results.clear();
    for (const runners of [this.runners, this.catalog, this.transfers, this.watchers]) runners.close();
  }
}

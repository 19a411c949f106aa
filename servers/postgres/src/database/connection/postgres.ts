import { randomUUID } from "node:crypto";
import type { PathGuard } from "@refmcp/boundary";
import { type ChangeStore, type LimitValues, ResultStore, withNear } from "@refmcp/sql";
import { openConnection } from "../driver/connection.ts";
import { failure } from "../errors.ts";
import { type Environment, namesAServer } from "./conninfo.ts";
import { Database, type Source, type WorkLimits } from "./database.ts";
import { embedded as embeddedSource } from "./embedded.ts";
import { targetOf } from "./target.ts";

export interface PostgresOptions extends WorkLimits, LimitValues {
  readonly url: string | undefined;
  readonly named: readonly { readonly name: string; readonly value: string }[];
  readonly embedded: { readonly directory: string | undefined } | undefined;
  readonly env: Environment;
  readonly changes?: ChangeStore | undefined;
}

/** All databases of this server; each is connected to on first use. */
export class Postgres {
  readonly guard: PathGuard;
  readonly limits: LimitValues;
  readonly results: ResultStore;
  readonly #databases = new Map<string, Database>();

  /** @throws ToolError `invalid` for a connection string that libpq would refuse. */
  constructor(options: PostgresOptions, guard: PathGuard, log: (sentence: string) => void) {
    this.guard = guard;
    this.limits = options;
    this.results = new ResultStore(options.readAheadMb * 1_048_576);
    const { url, named, embedded, env, maxConnections } = options;
    const add = (name: string, label: string, source: Source, identity?: string) =>
      this.#databases.set(
        name,
        new Database(name, label, options, source, options.changes, identity),
      );
    const addServer = (name: string, text: string | undefined) => {
      const target = targetOf(text, env);
      add(name, target.label, { open: () => openConnection(target) });
    };
    // The name of the default database.
    const main = "main";
    if (embedded !== undefined)
      add(
        main,
        "embedded",
        embeddedSource({ ...embedded, maxConnections }, log),
        // One that is removed at the end has no other name.
        `embedded ${embedded.directory ?? randomUUID()}`,
      );
    else if (url !== undefined || (named.length === 0 && namesAServer(env))) addServer(main, url);
    for (const { name, value } of named) addServer(name, value);
  }

  get names(): string[] {
    return [...this.#databases.keys()];
  }

  /**
   * The database with this name, or the first one.
   *
   * @throws ToolError `not_found` with the known names; `unavailable` if none is configured.
   */
  at(name?: string): Database {
    const [first] = this.#databases.values();
    const database = name === undefined ? first : this.#databases.get(name);
    if (database !== undefined) return database;
    if (first === undefined || name === undefined)
      throw failure("unconfigured", "No database is configured.");
    const hint = `Configured: ${this.names.join(", ")}. --db NAME=URL adds one.`;
    throw withNear("database", name, this.names, hint);
  }

  async close(): Promise<void> {
    this.results.clear();
    for (const database of this.#databases.values()) await database.close();
  }
}

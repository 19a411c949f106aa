import { ToolError } from "@refmcp/core/answer";
import type { PathGuard } from "@refmcp/core/boundary";
import { ResultStore, withNear } from "@refmcp/sql";
import { namesAServer } from "./conninfo.ts";
import { Database, type Source, type WorkLimits } from "./database.ts";
import { Embedded } from "./embedded.ts";
import { openLink } from "./link.ts";
import { Listener } from "./listen.ts";
import { targetOf } from "./target.ts";
import { Tunnel } from "./tunnel.ts";

/** Where the databases are, according to the options. */
export interface Sources {
  readonly url: string | undefined;
  readonly named: readonly { readonly name: string; readonly value: string }[];
  /** SSH destination of the jump host. */
  readonly ssh: string | undefined;
  readonly embedded: { readonly directory: string | undefined } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface AnswerLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly maxCellBytes: number;
  readonly readAheadMb: number;
}

export interface PostgresOptions extends Sources, WorkLimits, AnswerLimits {
  readonly notifyChannel: string;
}

/** A database and its listener. */
export interface Place {
  readonly database: Database;
  readonly listener: Listener;
}

/** Name of the default database. */
const MAIN = "main";

/** All databases of this server; each is connected to on first use. */
export class Postgres {
  readonly guard: PathGuard;
  readonly limits: AnswerLimits;
  readonly results: ResultStore;
  readonly #places = new Map<string, Place>();
  readonly #embedded: Embedded | undefined;
  readonly #tunnels: Tunnel[] = [];

  /** @throws ToolError `invalid` for a connection string that libpq would refuse. */
  constructor(options: PostgresOptions, guard: PathGuard, log: (sentence: string) => void) {
    this.guard = guard;
    this.limits = options;
    this.results = new ResultStore(options.readAheadMb * 1_048_576);
    const { url, named, embedded, env } = options;
    if (embedded !== undefined) {
      const { maxConnections } = options;
      const own = new Embedded({ directory: embedded.directory, maxConnections }, log);
      this.#embedded = own;
      this.#add(MAIN, "embedded", options, {
        ready: async () => void (await own.ready()),
        open: () => own.open(),
        whyLost: (link) => own.whyLost(link),
      });
    } else if (url !== undefined || (named.length === 0 && namesAServer(env))) {
      this.#connectable(MAIN, url, options);
    }
    for (const { name, value } of named) this.#connectable(name, value, options);
  }

  #connectable(name: string, url: string | undefined, options: PostgresOptions): void {
    const target = targetOf(url, options.env);
    if (options.ssh === undefined) {
      this.#add(name, target.label, options, { open: () => openLink(target) });
      return;
    }
    const tunnel = new Tunnel(options.ssh, target.addresses, options.env);
    this.#tunnels.push(tunnel);
    this.#add(name, target.label, options, {
      ready: () => tunnel.ready(),
      open: () => openLink(target, tunnel),
    });
  }

  #add(name: string, label: string, options: PostgresOptions, source: Source): void {
    const database = new Database(name, label, options, source);
    const listener = new Listener(options.notifyChannel, () => database.openLink());
    this.#places.set(name, { database, listener });
  }

  get names(): string[] {
    return [...this.#places.keys()];
  }

  /**
   * The database with this name, or the first one.
   *
   * @throws ToolError `not_found` with the known names; `unavailable` if none is configured.
   */
  at(name?: string): Place {
    const [first] = this.#places.values();
    const place = name === undefined ? first : this.#places.get(name);
    if (place !== undefined) return place;
    if (first === undefined || name === undefined) throw unconfigured();
    const hint = `Configured: ${this.names.join(", ")}. --db NAME=URL adds one.`;
    throw withNear("database", name, this.names, hint);
  }

  async close(): Promise<void> {
    this.results.clear();
    for (const { database, listener } of this.#places.values()) {
      await listener.close();
      await database.close();
    }
    for (const tunnel of this.#tunnels) await tunnel.close();
    await this.#embedded?.close();
  }
}

function unconfigured(): ToolError {
  return new ToolError("unavailable", "No database is configured.", {
    code: "unconfigured",
    hint: "Start the server with DATABASE_URL=postgres://user:password@host:5432/database in its environment (or --url, --db NAME=URL, PGHOST and similar), or with --embedded to try it without a server. --print-grant-sql prints SQL for a role that can only read.",
  });
}

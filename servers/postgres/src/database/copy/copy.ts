import { createHash } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { keyedLock } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { isWindows } from "@refmcp/embedded-postgres";
import { Database, type Session, type Work } from "../connection/database.ts";
import { embedded } from "../connection/embedded.ts";
import { creating, objectsOf, type SchemaObject } from "./objects.ts";
import { restore, type Size, type Statistics, statisticsOf } from "./statistics.ts";

/** Larger schemas are not copied. */
const MAX_OBJECTS = 100_000;
const STATEMENTS_AT_ONCE = 300;
/** How long the statistics of the source are used before they are read again. */
const FRESH_MS = 5 * 60_000;
/** An unused copy is removed after this time. */
const IDLE_MS = 10 * 60_000;
const PAGE = 8_192;
/** PostgreSQL splits files at 1 GiB. */
const SEGMENT_PAGES = 131_072;
/** Files are extended without using disk space, except on Windows. Larger tables get denser pages. */
const MAX_PAGES = isWindows ? 16_384 : 1_024 * SEGMENT_PAGES;

/** SQLSTATEs of objects that exist already, such as the schema public. */
const EXISTS = /^(42710|42P06|42P07|42723)$/;

/** Runs statements one by one and returns those that fail. */
const LOADER = `CREATE FUNCTION pg_temp.refmcp_load(statements pg_catalog.jsonb) RETURNS TABLE (at int, code text, message text) LANGUAGE plpgsql AS $load$
BEGIN
  FOR at IN 0 .. pg_catalog.jsonb_array_length(statements) - 1 LOOP
    BEGIN EXECUTE statements ->> at;
    EXCEPTION WHEN OTHERS THEN refmcp_load.at := at; code := SQLSTATE; message := SQLERRM; RETURN NEXT; END;
  END LOOP;
END $load$`;

/** How the source resolves names and judges plans. */
const SURROUNDINGS = `SELECT name, setting AS value FROM pg_catalog.pg_settings
  WHERE category LIKE 'Query Tuning%' OR name IN ('work_mem', 'hash_mem_multiplier', 'max_parallel_workers_per_gather')
  UNION ALL SELECT 'search_path', pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.quote_ident(s) FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) s), ', ') ORDER BY 1`;
/** In such a database a plain index does not serve LIKE 'abc%'. */
const IS_LINGUISTIC = `SELECT CASE coalesce(pg_catalog.to_jsonb(d) ->> 'datlocprovider', 'c') WHEN 'c' THEN datcollate NOT IN ('C', 'POSIX') WHEN 'i' THEN true ELSE false END AS is
  FROM pg_catalog.pg_database d WHERE datname = pg_catalog.current_database()`;
const SURROUND = `SELECT pg_catalog.set_config(g.name, g.value, true) FROM pg_catalog.jsonb_to_recordset($1::jsonb) g(name text, value text)
  JOIN pg_catalog.pg_settings s ON s.name = g.name AND s.context = 'user'`;

interface Loaded {
  readonly fingerprint: string;
  readonly database: Database;
  /** The data directory. */
  readonly data: string;
  /** What could not be created, with the reason. */
  readonly leftOut: readonly string[];
}

/** A copy of the source's schema and statistics, without rows, in which anything may be tried. */
export class Trial {
  readonly session: Session;
  readonly leftOut: readonly string[];
  /** By the quoted name with the schema. */
  readonly sizes: ReadonlyMap<string, Size>;
  readonly #data: string;
  readonly #grown: Set<string>;

  constructor(
    session: Session,
    { data, leftOut }: Loaded,
    { sizes, isCut }: Statistics,
    grown: Set<string>,
  ) {
    this.session = session;
    this.leftOut = isCut ? [...leftOut, "statistics of all but the largest tables"] : leftOut;
    this.sizes = new Map(sizes.map((size) => [size.name, size]));
    this.#data = data;
    this.#grown = grown;
  }

  /**
   * Gives the tables and indexes files of the source's size, which are empty: the planner multiplies the density of
   * rows in the statistics by the size of the file. Create indexes before, since building one reads the whole table.
   *
   * @param tables object ids
   * @param sizes estimated pages of new indexes, by their object id
   */
  async grow(tables: readonly string[], sizes: ReadonlyMap<string, number>): Promise<void> {
    const files = await this.session.rows<{
      id: string;
      name: string;
      file: string;
      isTable: boolean;
    }>(
      `SELECT c.oid::text AS id, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, pg_catalog.pg_relation_filepath(c.oid) AS file, c.relkind <> 'i' AS "isTable"
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'm', 'i')
         AND (c.oid = ANY($1::oid[]) OR c.oid IN (SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = ANY($1::oid[])))`,
      [tables],
    );
    // A backend remembers how many files a table has.
    this.session.connection.invalidate();
    for (const { id, name, file, isTable } of files) {
      const pages = Math.min(MAX_PAGES, sizes.get(id) ?? this.sizes.get(name)?.pages ?? 0);
      const path = join(this.#data, file);
      if (isTable) this.#grown.add(path);
      if (pages > 1) resize(path, pages);
    }
  }
}

/** Sets the length of a relation's files, as sparse files where the system has them. */
function resize(file: string, pages: number): void {
  const { uid, gid } = statSync(file);
  for (let segment = 0; ; segment++) {
    const path = segment === 0 ? file : `${file}.${segment}`;
    const left = Math.min(SEGMENT_PAGES, pages - segment * SEGMENT_PAGES);
    if (segment > 0 && left <= 0) {
      if (!existsSync(path)) return;
      unlinkSync(path);
      continue;
    }
    const descriptor = openSync(path, "a", 0o600);
    ftruncateSync(descriptor, Math.max(0, left) * PAGE);
    closeSync(descriptor);
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
  }
}

/** The local copy of one database's schema: made when it is first needed, and again after the schema changed. */
export class SchemaCopy {
  readonly #source: Database;
  readonly #log: (sentence: string) => void;
  readonly #inTurn = keyedLock();
  #loaded: Loaded | undefined;
  #statistics: { readonly read: Statistics; readonly at: number } | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(source: Database, log: (sentence: string) => void) {
    this.#source = source;
    this.#log = log;
  }

  /**
   * Runs `run` in a transaction of the copy, which is rolled back, with the names and planner settings of the source. One
   * call at a time.
   *
   * @param feature what needs it, for the error if PostgreSQL's binaries are not installed
   * @throws ToolError `unavailable` without the binaries, `too_large` for a schema that is not copied.
   */
  async use<Value>(
    feature: string,
    work: Work,
    run: (trial: Trial) => Promise<Value>,
  ): Promise<Value> {
    return await this.#inTurn("copy", async () => {
      clearTimeout(this.#idle);
      work.signal.throwIfAborted();
      const grown = new Set<string>();
      try {
        const { loaded, settings, statistics } = await this.#ready(feature, work);
        const trying = { ...work, mode: "READ WRITE" } as const;
        return await loaded.database.work(trying, async (session) => {
          await session.rows(SURROUND, [JSON.stringify(settings)]);
          return await run(new Trial(session, loaded, statistics, grown));
        });
      } catch (error) {
        // What is left of a crashed copy is not complete.
        if (error instanceof ToolError && error.kind === "unavailable") await this.close();
        throw error;
      } finally {
        for (const file of grown) if (existsSync(file)) resize(file, 0);
        this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
      }
    });
  }

  async #ready(feature: string, work: Work) {
    const isStale = this.#statistics === undefined || Date.now() - this.#statistics.at > FRESH_MS;
    const read = await this.#source.work(work, async (session) => {
      const settings = await session.rows(SURROUNDINGS);
      const [order] = await session.rows<{ is: boolean }>(IS_LINGUISTIC);
      const objects = await objectsOf(session);
      const fingerprint = createHash("sha256").update(JSON.stringify(objects)).digest("hex");
      const isNew = this.#loaded?.fingerprint !== fingerprint;
      const statistics =
        isNew || isStale ? await statisticsOf(session, this.#source.masks) : undefined;
      return {
        settings,
        statistics,
        isLinguistic: order?.is === true,
        objects,
        fingerprint,
        isNew,
      };
    });
    if (read.objects.length > MAX_OBJECTS)
      throw new ToolError(
        "too_large",
        `The schema has ${read.objects.length} objects; at most ${MAX_OBJECTS} are copied.`,
        { hint: "pg_explain and pg_health work without the copy." },
      );
    if (read.isNew) {
      await this.close();
      this.#loaded = await this.#load(feature, read, work.signal);
    }
    const [loaded, statistics] = [this.#loaded, read.statistics ?? this.#statistics?.read];
    if (loaded === undefined || statistics === undefined)
      throw new Error("the copy was closed while it was loaded");
    if (read.statistics !== undefined) {
      await loaded.database.work({ signal: work.signal, mode: "READ WRITE" }, async (session) => {
        await restore(session, statistics, MAX_PAGES);
        await session.run("COMMIT");
      });
      this.#statistics = { read: statistics, at: Date.now() };
    }
    return { loaded, settings: read.settings, statistics };
  }

  async #load(
    feature: string,
    read: Pick<Loaded, "fingerprint"> & { objects: readonly SchemaObject[]; isLinguistic: boolean },
    signal: AbortSignal,
  ) {
    const { fingerprint, objects, isLinguistic } = read;
    const options = "--url URL --toolsets data,dba";
    const cluster = {
      directory: undefined,
      maxConnections: 1,
      createsRoles: true,
      isLinguistic,
      // Statistics are those of the source, and many tables are created in one transaction.
      settings: {
        restart_after_crash: "off",
        autovacuum: "off",
        max_locks_per_transaction: 1_024,
        createrole_self_grant: "set, inherit",
      },
    };
    const source = embedded(cluster, this.#log, [feature, options]);
    const limits = { ...this.#source.limits, maxConnections: 1, allowPrivilegedRole: false };
    const database = new Database("copy", "the schema copy", limits, source);
    try {
      const { data } = await source.ready();
      const isEarly = ({ kind }: SchemaObject) => /^(role|schema|extension|stand-in)$/.test(kind);
      const early = objects.filter(isEarly);
      const earlyFailed = await loaded(database, early, signal);
      const made = early.filter((one) => one.kind === "stand-in" && !earlyFailed.has(one));
      const late = objects.filter((one) => !isEarly(one));
      const rest = creating(late, new Set(made.map(({ name }) => name)));
      const failed = [...earlyFailed, ...(await loaded(database, [...rest], signal))];
      const leftOut = failed.flatMap(([{ kind, name }, { code, message }]) =>
        EXISTS.test(code) || kind === "role" ? [] : [`${kind} ${name}: ${message}`],
      );
      return { fingerprint, database, data, leftOut };
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const loaded = this.#loaded;
    this.#loaded = undefined;
    await loaded?.database.close();
  }
}

/** Creates objects, again and again as long as more succeed, since some depend on later ones. Returns those that failed. */
async function loaded(database: Database, objects: readonly SchemaObject[], signal: AbortSignal) {
  for (let waiting = objects; ; ) {
    const failed = new Map<SchemaObject, { code: string; message: string }>();
    for (let from = 0; from < waiting.length; from += STATEMENTS_AT_ONCE) {
      const some = waiting.slice(from, from + STATEMENTS_AT_ONCE);
      await database.work({ signal, mode: "READ WRITE" }, async (session) => {
        await session.run(
          `SET LOCAL search_path = pg_catalog; SET LOCAL check_function_bodies = off; ${LOADER}`,
        );
        const rows = await session.rows<{ at: number; code: string; message: string }>(
          "SELECT at, code, message FROM pg_temp.refmcp_load($1)",
          [JSON.stringify(some.map(({ sql }) => sql))],
        );
        for (const { at, ...why } of rows) {
          const one = some[at];
          if (one !== undefined) failed.set(one, why);
        }
        await session.run("COMMIT");
      });
    }
    if (failed.size === 0 || failed.size === waiting.length) return failed;
    waiting = [...failed.keys()];
  }
}

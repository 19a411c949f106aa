import { oneLine } from "@refmcp/boundary/answer";
import type { Link } from "../connection/link.ts";
import { denied } from "./gate.ts";
import type { Called } from "./tree.ts";

/** Harmless volatile functions of common extensions. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4", "gen_random_bytes", "gen_salt"],
  ...["normal_rand", "pg_stat_statements", "pg_stat_statements_info", "pgstattuple", "pgstattuple_approx"],
  ...["pgstatindex", "pg_relpages", "pg_freespace", "pg_buffercache_pages", "pg_buffercache_summary"],
  ...["show_limit", "show_trgm", "timeofday", "postgis_full_version"],
]);

const LOOK_UP = `
SELECT p.proname::text AS name, pg_catalog.bool_and(n.nspname = 'pg_catalog') AS builtin,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog') AS volatile,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog' AND p.pronargs = 1) AS attribute,
  pg_catalog.bool_and(n.nspname = 'pg_catalog' OR EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')) AS extension
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = ANY($1::name[]) GROUP BY 1`;

const REDECLARED = "refmcp: a function of PostgreSQL was redeclared";

/**
 * Stops dangerous functions that are on no list: anything outside PostgreSQL itself that is declared volatile may send,
 * write or start something that a rollback does not undo (`http()`, `aws_s3.query_export_to_s3`). Any role that may create
 * functions can redeclare a name, so what is there is looked up for every statement.
 */
export class FunctionGate {
  readonly #allowed: ReadonlySet<string>;
  readonly #allowsAll: boolean;
  /** Names that only PostgreSQL itself used when they were looked up; letters, digits and _, since SQL is made of them. */
  readonly #builtin = new Set<string>();

  /** @param allowed names of volatile functions, or `*` for all */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((name) => name.toLowerCase()));
    this.#allowsAll = allowed.includes("*");
  }

  #checked(calls: readonly Called[]): Called[] {
    return this.#allowsAll ? [] : calls.filter(({ name }) => !this.#allowed.has(name.toLowerCase()));
  }

  /**
   * Statements to run before the calls, which fail if PostgreSQL's own functions are no longer the only ones of their
   * names; undefined if the calls need `requireHarmless`.
   */
  guards(calls: readonly Called[]): string[] | undefined {
    const names = [...new Set(this.#checked(calls).map(({ name }) => name))];
    if (names.length === 0) return [];
    if (names.some((name) => !this.#builtin.has(name))) return undefined;
    return [
      `SELECT (SELECT '${REDECLARED}'::pg_catalog.text FROM pg_catalog.pg_proc
         WHERE proname OPERATOR(pg_catalog.=) ANY ('{${names.join()}}'::pg_catalog.name[])
           AND pronamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid LIMIT 1)::pg_catalog.int4`,
    ];
  }

  /** Whether an error is that of a guard; the calls then need `requireHarmless`. */
  isRedeclared(error: unknown): boolean {
    const isGuard = error instanceof Error && error.message.includes(REDECLARED);
    if (isGuard) this.#builtin.clear();
    return isGuard;
  }

  /** @throws ToolError `denied` if one of them is volatile and not allowed. */
  async requireHarmless(link: Link, calls: readonly Called[]): Promise<void> {
    const checked = this.#checked(calls);
    if (checked.length === 0) return;
    const names = [...new Set(checked.map(({ name }) => name))];
    const found = await link.rows<{
      name: string;
      builtin: boolean;
      volatile: boolean;
      attribute: boolean | null;
      extension: boolean;
    }>(LOOK_UP, [names]);
    for (const { name, builtin, volatile, attribute, extension } of found) {
      if (builtin && /^\w+$/.test(name)) this.#builtin.add(name);
      const isCalled = checked.some((one) => one.name === name && (!one.isAttribute || attribute === true));
      if (!volatile || !isCalled || (extension && HARMLESS.has(name))) continue;
      const shown = oneLine(name);
      throw denied(
        `The function ${shown} is declared VOLATILE, so its effects may not be rolled back.`,
        `If it only reads, ask its owner to declare it STABLE (ALTER FUNCTION ${shown} STABLE), or ask the user to start the server with --allow-function ${shown}.`,
      );
    }
  }
}

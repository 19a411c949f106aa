import { oneLine } from "@refmcp/core/answer";
import type { Link } from "../connection/link.ts";
import { denied } from "./gate.ts";
import type { Called } from "./tree.ts";

/** Harmless volatile functions of common extensions. */
const HARMLESS: readonly string[] = [
  ...["uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4", "gen_random_bytes", "gen_salt"],
  ...["normal_rand", "pg_stat_statements", "pg_stat_statements_info", "pgstattuple", "pgstattuple_approx"],
  ...["pgstatindex", "pg_relpages", "pg_freespace", "pg_buffercache_pages", "pg_buffercache_summary"],
  ...["show_limit", "show_trgm", "timeofday", "postgis_full_version"],
];

const LOOK_UP = `
SELECT p.proname::text AS name, pg_catalog.bool_and(n.nspname = 'pg_catalog') AS builtin,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog') AS volatile,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog' AND p.pronargs = 1) AS attribute
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = ANY($1::name[]) GROUP BY 1`;

/**
 * Stops dangerous functions that are on no list: anything outside PostgreSQL itself that is declared volatile may send,
 * write or start something that a rollback does not undo (`http()`, `aws_s3.query_export_to_s3`).
 */
export class FunctionGate {
  readonly #allowed: ReadonlySet<string>;
  readonly #allowsAll: boolean;
  /** Names that only PostgreSQL itself uses; users can redeclare theirs at any time. */
  readonly #builtin = new Set<string>();

  /** @param allowed names of volatile functions, or `*` for all */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set([...HARMLESS, ...allowed.map((name) => name.toLowerCase())]);
    this.#allowsAll = allowed.includes("*");
  }

  /** Whether `requireHarmless` has to query the server. */
  mustLookUp(calls: readonly Called[]): boolean {
    return this.#unknown(calls).length > 0;
  }

  #unknown(calls: readonly Called[]): Called[] {
    if (this.#allowsAll) return [];
    return calls.filter(({ name }) => !this.#builtin.has(name) && !this.#allowed.has(name.toLowerCase()));
  }

  /** @throws ToolError `denied` if one of them is volatile and not allowed. */
  async requireHarmless(link: Link, calls: readonly Called[]): Promise<void> {
    const unknown = this.#unknown(calls);
    if (unknown.length === 0) return;
    const names = [...new Set(unknown.map(({ name }) => name))];
    const found = await link.rows<{
      name: string;
      builtin: boolean;
      volatile: boolean;
      attribute: boolean | null;
    }>(LOOK_UP, [names]);
    for (const { name, builtin, volatile, attribute } of found) {
      if (builtin) this.#builtin.add(name);
      const isCalled = unknown.some((one) => one.name === name && (!one.isAttribute || attribute === true));
      if (!volatile || !isCalled) continue;
      const shown = oneLine(name);
      throw denied(
        `The function ${shown} is declared VOLATILE, so its effects may not be rolled back.`,
        `If it only reads, ask its owner to declare it STABLE (ALTER FUNCTION ${shown} STABLE), or ask the user to start the server with --allow-function ${shown}.`,
      );
    }
  }
}

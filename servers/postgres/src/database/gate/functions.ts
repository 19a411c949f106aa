import { oneLine } from "@refmcp/boundary/answer";
import type { Connection } from "../driver/connection.ts";
import { denied } from "../errors.ts";
import { namesOf, treeOf } from "./syntax.ts";

const words = (text: string) => text.trim().split(/\s+/);

/**
 * Functions that a reading statement must not call, by unqualified name, since a read-only transaction does not stop them.
 * They access files or other servers, signal other sessions, keep locks or settings, or run text as SQL that the gate has
 * not seen. From PostgreSQL 18, "Functions and Operators", and the extensions that ship with it.
 */
const DENIED: ReadonlySet<string> = new Set([
  // Run text as SQL.
  ...words(`query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema
    table_to_xml table_to_xmlschema table_to_xml_and_xmlschema schema_to_xml schema_to_xmlschema
    schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema ts_stat ts_rewrite
    crosstab crosstab2 crosstab3 crosstab4 crosstab_hash connectby xpath_table xslt_process`),
  // Change state: settings, sequences, notifications, large objects.
  ...words("set_config setval nextval pg_notify loread lowrite"),
  // Affect other sessions or the server itself.
  ...words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_rotate_logfile_old pg_switch_wal
    pg_switch_xlog pg_create_restore_point pg_promote pg_backup_start pg_backup_stop pg_start_backup pg_stop_backup
    pg_export_snapshot pg_log_standby_snapshot pg_log_backend_memory_contexts pg_import_system_collations pg_nextoid
    pg_extension_config_dump pg_stop_making_pinned_objects pg_current_logfile pg_stat_file pg_prewarm
    autoprewarm_start_worker autoprewarm_dump_now gin_clean_pending_list brin_summarize_new_values brin_summarize_range
    brin_desummarize_range pg_hba_file_rules pg_ident_file_mappings pg_show_all_file_settings pg_get_shmem_allocations
    heap_force_kill heap_force_freeze pg_truncate_visibility_map pg_truncate_freespace_map`),
]);

const DENIED_PREFIXES = words(`pg_read_ pg_ls_ pg_file_ pg_logdir_ pg_advisory_ pg_try_advisory_ pg_logical_
  pg_create_logical_ pg_create_physical_ pg_copy_logical_ pg_copy_physical_ pg_drop_replication_ pg_replication_
  pg_wal_replay_ pg_xlog_replay_ pg_stat_reset pg_stat_statements_reset pg_restore_ pg_clear_ pg_sync_ pg_set_
  binary_upgrade_ lo_ be_lo_ dblink postgres_fdw_ http_ pg_buffercache_evict pg_walinspect pg_get_wal_ pldbg_ hypopg_
  cron_ pg_background_ get_raw_page pg_dist_ run_command_on_`);

/** Catalogs and views with password hashes, connection strings, samples of others' rows, or the server's files. */
const DENIED_RELATIONS: ReadonlySet<string> = new Set(
  words(`pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_subscription pg_largeobject pg_hba_file_rules
    pg_ident_file_mappings pg_file_settings pg_statistic pg_statistic_ext_data user_mapping_options pg_shmem_allocations
    pg_backend_memory_contexts pg_stat_wal_receiver pg_dist_authinfo`),
);

/** Harmless volatile functions of common extensions. */
const HARMLESS: ReadonlySet<string> = new Set(
  words(`uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 gen_random_bytes gen_salt normal_rand pg_stat_statements
    pg_stat_statements_info pgstattuple pgstattuple_approx pgstatindex pg_relpages pg_freespace pg_buffercache_pages
    pg_buffercache_summary show_limit show_trgm timeofday postgis_full_version`),
);

/** A function that a statement may call, by its bare, decoded name. */
export interface Called {
  readonly name: string;
  /** Whether it is in attribute notation, `(x).f` or `t.f`, which usually names a column. */
  readonly isAttribute: boolean;
}

/** The functions that a node names, in any notation. */
export function calledBy(key: string, value: unknown): Called[] {
  const tree = treeOf(value);
  const isAttribute = key !== "FuncCall";
  const names =
    key === "FuncCall"
      ? namesOf(tree.funcname).slice(-1)
      : key === "A_Indirection"
        ? namesOf(tree.indirection)
        : key === "ColumnRef"
          ? namesOf(tree.fields).slice(1)
          : [];
  return names.map((name) => ({ name, isAttribute }));
}

/**
 * The functions that a node calls.
 *
 * @param allowed denied functions that it may call nevertheless
 * @throws ToolError `denied` if it calls a denied function or names a denied catalog, in any schema.
 */
export function harmlessCalls(key: string, value: unknown, allowed: readonly string[] = []): Called[] {
  const calls = calledBy(key, value);
  for (const { name } of calls) {
    const bare = name.toLowerCase();
    const isDenied = DENIED.has(bare) || DENIED_PREFIXES.some((prefix) => bare.startsWith(prefix));
    if (isDenied && !allowed.includes(bare))
      throw denied(
        `The function ${name} is blocked: its effects go beyond table rows and can't be rolled back.`,
        "Get the rows with a plain SELECT, or ask the user to run this in psql.",
      );
  }
  const { relname } = treeOf(value);
  if (key === "RangeVar" && typeof relname === "string" && DENIED_RELATIONS.has(relname.toLowerCase()))
    throw denied(
      `${relname} is blocked: it contains secrets or the server's own files.`,
      "pg_roles, pg_stats and pg_settings show the non-secret part.",
    );
  return calls;
}

const LOOK_UP = `
SELECT p.proname::text AS name, pg_catalog.bool_and(n.nspname = 'pg_catalog') AS builtin,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog') AS volatile,
  pg_catalog.bool_or(p.provolatile = 'v' AND n.nspname <> 'pg_catalog' AND p.pronargs = 1) AS attribute,
  pg_catalog.bool_and(n.nspname = 'pg_catalog' OR EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')) AS extension
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = ANY($1::name[]) GROUP BY 1`;

interface Found {
  readonly name: string;
  readonly builtin: boolean;
  readonly volatile: boolean;
  readonly attribute: boolean | null;
  readonly extension: boolean;
}

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
  async requireHarmless(session: Pick<Connection, "rows">, calls: readonly Called[]): Promise<void> {
    const checked = this.#checked(calls);
    if (checked.length === 0) return;
    const names = new Set(checked.map(({ name }) => name));
    const found = await session.rows<Found>(LOOK_UP, [[...names]]);
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

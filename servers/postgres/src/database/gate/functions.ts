import { denied } from "../driver/errors.ts";
import { namesOf, treeOf } from "./syntax.ts";

const words = (text: string) => text.trim().split(/\s+/);

/**
 * PostgreSQL's functions that a reading statement must not call, by unqualified name, since a read-only transaction does
 * not stop them. They access files or other servers, signal other sessions, keep locks or settings, or run text as SQL
 * that the gate has not seen. From PostgreSQL 18, "Functions and Operators".
 */
const DENIED: ReadonlySet<string> = new Set([
  // Make a value of any type, whose checks then run.
  ...words(
    `pg_input_is_valid pg_input_error_info domain_in array_in record_in range_in multirange_in`,
  ),
  // Run text as SQL.
  ...words(`query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema
    table_to_xml table_to_xmlschema table_to_xml_and_xmlschema schema_to_xml schema_to_xmlschema
    schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema ts_stat ts_rewrite`),
  // Change state: settings, sequences, notifications, large objects.
  ...words("set_config setval nextval pg_notify loread lowrite"),
  // Affect other sessions or the server itself.
  ...words(`pg_terminate_backend pg_cancel_backend pg_reload_conf pg_promote pg_export_snapshot pg_nextoid pg_current_logfile
    pg_extension_config_dump pg_stat_file gin_clean_pending_list pg_hba_file_rules pg_ident_file_mappings
    pg_show_all_file_settings pg_get_shmem_allocations`),
  // Large objects; columns may begin with lo_, too.
  ...words(`lo_close lo_creat lo_create lo_export lo_from_bytea lo_get lo_import lo_lseek lo_lseek64 lo_open lo_put lo_tell
    lo_tell64 lo_truncate lo_truncate64 lo_unlink be_lo_export be_lo_import`),
]);

const DENIED_PREFIXES =
  words(`pg_read_ pg_ls_ pg_file_ pg_logdir_ pg_advisory_ pg_try_advisory_ pg_logical_ pg_log_
  pg_create_logical_ pg_create_physical_ pg_create_restore_point pg_copy_ pg_drop_replication_ pg_replication_ pg_wal_replay_ pg_xlog_replay_ pg_stat_reset pg_restore_
  pg_clear_ pg_sync_ pg_set_ pg_rotate_ pg_switch_ pg_backup_ pg_start_ pg_stop_ pg_import_ brin_summarize_
  brin_desummarize_ binary_upgrade_`);

/** The same of the extensions that ship with PostgreSQL, and of other common ones. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  words(`crosstab crosstab2 crosstab3 crosstab4 crosstab_hash connectby xpath_table xslt_process pg_prewarm
    autoprewarm_start_worker autoprewarm_dump_now heap_force_kill heap_force_freeze pg_truncate_visibility_map
    pg_truncate_freespace_map pg_stat_statements_reset lo_manage`),
);
const EXTENSION_PREFIXES =
  words(`dblink postgres_fdw_ http_ pg_buffercache_evict pg_walinspect pg_get_wal_ pldbg_ hypopg_
  cron_ pg_background_ get_raw_page pg_dist_ run_command_on_`);

/** Catalogs and views with password hashes, connection strings, samples of others' rows, or the server's files. */
const DENIED_RELATIONS: ReadonlySet<string> = new Set(
  words(`pg_authid pg_shadow pg_user_mapping pg_user_mappings pg_subscription pg_largeobject pg_hba_file_rules
    pg_ident_file_mappings pg_file_settings pg_statistic pg_statistic_ext_data user_mapping_options pg_shmem_allocations
    pg_backend_memory_contexts pg_stat_wal_receiver pg_dist_authinfo`),
);

/** Harmless volatile functions of common extensions. */
export const HARMLESS: ReadonlySet<string> = new Set(
  words(`uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 gen_random_bytes gen_salt normal_rand pg_stat_statements
    pg_stat_statements_info pgstattuple pgstattuple_approx pgstatindex pg_relpages pg_freespace pg_buffercache_pages
    pg_buffercache_summary show_limit show_trgm timeofday
    moddatetime insert_username autoinc check_primary_key check_foreign_key`),
);

const isListed = (names: ReadonlySet<string>, prefixes: readonly string[]) => (name: string) =>
  names.has(name.toLowerCase()) || prefixes.some((prefix) => name.toLowerCase().startsWith(prefix));
export const isDenied = isListed(DENIED, DENIED_PREFIXES);
export const isDeniedExtension = isListed(EXTENSIONS, EXTENSION_PREFIXES);
export const isDeniedRelation = (name: string) => DENIED_RELATIONS.has(name.toLowerCase());

/**
 * An object that SQL names, as its kind and its bare, decoded name. An `attribute` is a function in attribute notation,
 * `(x).f` or `t.f`, which usually names a column; a `name` is that of a relation and its type; a `block` is the code of DO. `always` is
 * what no statement names: casts and operator classes of PostgreSQL's own types, which every statement may use.
 */
export type Mention =
  | `${"function" | "attribute" | "operator" | "type" | "name" | "block"} ${string}`
  | "always ";

/** A call by name; the notation `type(x)` is a cast. */
export const callOf = (name: string, kind: "function" | "attribute" = "function"): Mention[] => [
  `${kind} ${name}`,
  `type ${name}`,
];

/** The operators of IN, LIKE, BETWEEN, CASE, USING and similar, which SQL does not write. */
export const IMPLIED: readonly Mention[] = words("= <> < > <= >= ~~ !~~ ~~* !~~* ~ !~").map(
  (name): Mention => `operator ${name}`,
);

/** What a node of a syntax tree names. */
function mentionedBy(key: string, value: unknown): Mention[] {
  const tree = treeOf(value);
  const last = (list: unknown) => namesOf(list).slice(-1);
  const attributes = (names: string[]) => names.flatMap((name) => callOf(name, "attribute"));
  if (/^funccall$/i.test(key)) return last(tree.funcname).flatMap((name) => callOf(name));
  if (key === "A_Indirection") return attributes(namesOf(tree.indirection));
  if (key === "ColumnRef") return attributes(namesOf(tree.fields).slice(1));
  if (/^typename$/i.test(key)) return last(tree.names).map((name): Mention => `type ${name}`);
  if (typeof tree.relname === "string") return [`name ${tree.relname}`];
  const operator = key === "A_Expr" ? tree.name : key === "SubLink" ? tree.operName : tree.useOp;
  return last(operator).map((name): Mention => `operator ${name}`);
}

/**
 * What a node names.
 *
 * @param isRefused the functions that must not be called, by their bare names
 * @throws ToolError `denied` if it calls one of them or names a denied catalog, in any schema.
 */
export function harmlessMentions(key: string, value: unknown, isRefused = isDenied): Mention[] {
  const mentions = mentionedBy(key, value);
  for (const mention of mentions) {
    const [, name = ""] = /^(?:function|attribute) (.*)/s.exec(mention) ?? [];
    if (isRefused(name))
      throw denied(
        `The function ${name} is blocked: its effects go beyond table rows and can't be rolled back.`,
        name.toLowerCase() === "setval"
          ? "Use ALTER SEQUENCE … RESTART WITH n, which is part of the transaction."
          : "Get the rows with a plain SELECT, or ask the user to run this in psql.",
      );
  }
  const { relname } = treeOf(value);
  if (typeof relname === "string" && isDeniedRelation(relname))
    throw denied(
      `${relname} is blocked: it contains secrets or the server's own files.`,
      "pg_roles, pg_stats and pg_settings show the non-secret part.",
    );
  return mentions;
}

/** Not setval: it would take effect before the user is asked, and in a dry run. */
const CHANGING = new Set(["nextval", "pg_notify"]);

/** Functions of these lists whose effects a rollback undoes, and that run text as SQL or make a value of a type that it names. */
const ROLLED_BACK =
  /^(nextval|pg_notify|set_config|loread|lowrite|(be_)?lo_(?!export)\w+|pg_(try_)?advisory_\w+)$/;
const RUNNING_TEXT =
  /_to_xml|^(ts_stat|ts_rewrite|crosstab|connectby|xpath_table|pg_input_|(domain|array|record|range|multirange)_in$)/;

export const runsText = (name: string) => RUNNING_TEXT.test(name.toLowerCase());

/** Whether the effects of a function, which the code of a change calls, certainly outlast a rollback. */
export const outlastsRollback = (name: string) =>
  (isDenied(name) || isDeniedExtension(name)) &&
  !ROLLED_BACK.test(name.toLowerCase()) &&
  !runsText(name);

/** The functions that a changing statement must not call. */
export const isDeniedInChange = (name: string) =>
  !CHANGING.has(name.toLowerCase()) && (isDenied(name) || isDeniedExtension(name));

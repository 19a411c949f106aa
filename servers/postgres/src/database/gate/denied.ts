/**
 * Functions that a reading statement must not call, by unqualified name, since a read-only transaction does not stop them.
 * They access files or other servers, signal other sessions, keep locks or settings, or run text as SQL that the gate has
 * not seen. From PostgreSQL 18, "Functions and Operators", and the extensions that ship with it.
 */
const FUNCTIONS: ReadonlySet<string> = new Set([
  // Run text as SQL.
  ...[
    "query_to_xml",
    "query_to_xmlschema",
    "query_to_xml_and_xmlschema",
    "cursor_to_xml",
    "cursor_to_xmlschema",
  ],
  ...["table_to_xml", "table_to_xmlschema", "table_to_xml_and_xmlschema"],
  ...["schema_to_xml", "schema_to_xmlschema", "schema_to_xml_and_xmlschema"],
  ...["database_to_xml", "database_to_xmlschema", "database_to_xml_and_xmlschema"],
  ...[
    "ts_stat",
    "ts_rewrite",
    "crosstab",
    "crosstab2",
    "crosstab3",
    "crosstab4",
    "crosstab_hash",
    "connectby",
  ],
  ...["xpath_table", "xslt_process"],
  // Change state: settings, sequences, notifications, large objects.
  ...["set_config", "setval", "nextval", "pg_notify", "loread", "lowrite"],
  // Affect other sessions or the server itself.
  ...[
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "pg_rotate_logfile",
    "pg_rotate_logfile_old",
  ],
  ...["pg_switch_wal", "pg_switch_xlog", "pg_create_restore_point", "pg_promote", "pg_backup_start"],
  ...["pg_backup_stop", "pg_start_backup", "pg_stop_backup", "pg_export_snapshot", "pg_log_standby_snapshot"],
  ...["pg_log_backend_memory_contexts", "pg_import_system_collations", "pg_nextoid"],
  ...["pg_extension_config_dump", "pg_stop_making_pinned_objects"],
  ...["pg_current_logfile", "pg_stat_file", "pg_prewarm", "autoprewarm_start_worker", "autoprewarm_dump_now"],
  ...[
    "gin_clean_pending_list",
    "brin_summarize_new_values",
    "brin_summarize_range",
    "brin_desummarize_range",
  ],
  ...["pg_hba_file_rules", "pg_ident_file_mappings", "pg_show_all_file_settings", "pg_get_shmem_allocations"],
  ...["heap_force_kill", "heap_force_freeze", "pg_truncate_visibility_map", "pg_truncate_freespace_map"],
]);

/** Prefixes of such functions. */
const BEGINNINGS: readonly string[] = [
  ...["pg_read_", "pg_ls_", "pg_file_", "pg_logdir_", "pg_advisory_", "pg_try_advisory_", "pg_logical_"],
  ...["pg_create_logical_", "pg_create_physical_", "pg_copy_logical_", "pg_copy_physical_"],
  ...["pg_drop_replication_", "pg_replication_", "pg_wal_replay_", "pg_xlog_replay_", "pg_stat_reset"],
  ...["pg_stat_statements_reset", "pg_restore_", "pg_clear_", "pg_sync_", "pg_set_", "binary_upgrade_"],
  ...[
    "lo_",
    "be_lo_",
    "dblink",
    "postgres_fdw_",
    "http_",
    "pg_buffercache_evict",
    "pg_walinspect",
    "pg_get_wal_",
  ],
  ...["pldbg_", "hypopg_", "cron_", "pg_background_", "get_raw_page", "pg_dist_", "run_command_on_"],
];

/** Catalogs and views with password hashes, connection strings, samples of others' rows, or the server's files. */
const RELATIONS: ReadonlySet<string> = new Set([
  ...["pg_authid", "pg_shadow", "pg_user_mapping", "pg_user_mappings", "pg_subscription", "pg_largeobject"],
  ...[
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_file_settings",
    "pg_statistic",
    "pg_statistic_ext_data",
  ],
  ...["user_mapping_options", "pg_shmem_allocations", "pg_backend_memory_contexts", "pg_stat_wal_receiver"],
  ...["pg_dist_authinfo"],
]);

/** Whether a function with this unqualified, decoded name is denied, in any schema. */
export function isDeniedFunction(name: string): boolean {
  const bare = name.toLowerCase();
  return FUNCTIONS.has(bare) || BEGINNINGS.some((beginning) => bare.startsWith(beginning));
}

/** Whether a relation with this unqualified, decoded name is denied, in any schema. */
export function isDeniedRelation(name: string): boolean {
  return RELATIONS.has(name.toLowerCase());
}

import type { Solution } from "../run.ts";
import { execute } from "./statements.ts";

const grantDetail = (grant: string, issue: string, expected: boolean) => {
  const [user, table, right] = grant.split(" ");
  return [user, issue, table, right, expected];
};

/** The tasks whose database the benchmark prepares by a script. */
export const prepared: Readonly<Record<string, Solution>> = {
  "postgres/standard/security/rls_business_access": async (call) => {
    await call("pg_describe_tables", { schema: "public" });
    await call("pg_list_objects", { kinds: ["function"], schema: "public" });
    const me = "app_current_user_id()";
    const visible = (channel: string) =>
      `EXISTS (SELECT 1 FROM channels c WHERE c.id = ${channel} AND (c.is_public OR can_moderate_channel(c.id, ${me})))`;
    const ownPost = `author_id = ${me} OR can_moderate_channel(channel_id, ${me})`;
    const ownComment = `author_id = ${me} OR EXISTS (SELECT 1 FROM posts p WHERE p.id = post_id
      AND (p.author_id = ${me} OR can_moderate_channel(p.channel_id, ${me})))`;
    const visibleComment = `EXISTS (SELECT 1 FROM posts p WHERE p.id = post_id)`;
    const policies: readonly (readonly [table: string, command: string, condition: string])[] = [
      ["users", "SELECT", `is_public OR id = ${me}`],
      ["users", "UPDATE", `id = ${me}`],
      ["users", "DELETE", `id = ${me}`],
      ["channels", "SELECT", `is_public OR can_moderate_channel(id, ${me})`],
      ["channels", "INSERT", `owner_id = ${me}`],
      ["channels", "UPDATE", `owner_id = ${me}`],
      ["channels", "DELETE", `owner_id = ${me}`],
      ["posts", "SELECT", visible("channel_id")],
      ["posts", "INSERT", `author_id = ${me} AND ${visible("channel_id")}`],
      ["posts", "UPDATE", ownPost],
      ["posts", "DELETE", ownPost],
      ["comments", "SELECT", visibleComment],
      ["comments", "INSERT", `author_id = ${me} AND ${visibleComment}`],
      ["comments", "UPDATE", ownComment],
      ["comments", "DELETE", ownComment],
      ["channel_moderators", "SELECT", visible("channel_id")],
      ["channel_moderators", "INSERT", `is_channel_owner(channel_id, ${me})`],
      ["channel_moderators", "DELETE", `is_channel_owner(channel_id, ${me}) OR user_id = ${me}`],
    ];
    await execute(
      call,
      ...[...new Set(policies.map(([table]) => table))].map(
        (table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
      ),
      ...policies.map(
        ([table, command, condition]) =>
          `CREATE POLICY ${table}_${command.toLowerCase()} ON ${table} FOR ${command} ${command === "INSERT" ? "WITH CHECK" : "USING"} (${condition})`,
      ),
      "CREATE INDEX channels_owner ON channels (owner_id)",
      "CREATE INDEX moderators_user ON channel_moderators (user_id)",
      "CREATE INDEX posts_channel ON posts (channel_id)",
      "CREATE INDEX comments_post ON comments (post_id)",
    );
  },

  "postgres/standard/security/user_permission_audit": async (call, prompt) => {
    const teams = new Map(
      [...prompt.matchAll(/^ {4}'(\w+)': '([^']+)'/gm)].map(([, user, team]) => [user ?? "", team]),
    );
    const expected = new Set<string>();
    for (const [, team, grants = ""] of prompt.matchAll(/^ {4}'([^']+)': \[(.*?)\]/gms))
      for (const [user, of] of teams)
        if (of === team)
          for (const [, table, right] of grants.matchAll(/\('(\w+)', '(\w+)'\)/g))
            expected.add(`${user} ${table} ${right}`);
    const found = JSON.parse(
      await call("query", {
        sql: `SELECT rolname, table_name, privilege_type FROM pg_roles
          LEFT JOIN information_schema.table_privileges ON grantee = rolname AND table_schema = 'public'
          WHERE rolcanlogin AND NOT rolsuper ORDER BY 1, 2, 3`,
        max_rows: 1_000,
      }),
    );
    const rows: readonly (readonly (string | null)[])[] = found.rows;
    const actual = new Set(rows.filter(([, table]) => table !== null).map((row) => row.join(" ")));
    const dangling = [...new Set(rows.map(([user]) => user ?? ""))].filter(
      (user) => !teams.has(user),
    );
    const missing = [...expected].filter((grant) => !actual.has(grant));
    const excessive = [...actual].filter((grant) => !expected.has(grant));
    const details = [
      ...dangling.map((user) => [user, "DANGLING_USER", null, null, false]),
      ...missing.map((grant) => grantDetail(grant, "MISSING_PERMISSION", true)),
      ...excessive.map((grant) => grantDetail(grant, "EXCESSIVE_PERMISSION", false)),
    ];
    const [summary = "", detail = ""] = [
      ...prompt.matchAll(/CREATE TABLE security_audit_\w+ \(.*?\n\);/gs),
    ].map(String);
    await execute(
      call,
      summary,
      detail,
      {
        sql: `INSERT INTO security_audit_details (username, issue_type, table_name, permission_type, expected_access)
          SELECT d->>0, d->>1, d->>2, d->>3, (d->>4)::boolean FROM json_array_elements($1::json) d`,
        params: [JSON.stringify(details)],
      },
      `INSERT INTO security_audit_results (audit_type, total_issues, users_affected, tables_affected)
        SELECT issue_type || 'S', count(*), count(DISTINCT username), count(DISTINCT table_name)
        FROM security_audit_details GROUP BY issue_type`,
    );
  },

  "postgres/standard/vectors/dba_vector_analysis": async (call, prompt) => {
    const found = JSON.parse(
      await call("query", {
        sql: `SELECT table_name, column_name FROM information_schema.columns
          WHERE udt_name = 'vector' AND table_schema = 'public' ORDER BY 1, 2`,
      }),
    );
    const columns: readonly (readonly string[])[] = found.rows;
    await execute(
      call,
      ...[...prompt.matchAll(/CREATE TABLE vector_analysis_\w+ \(.*?\n\);/gs)].map(String),
      ...columns.flatMap(([table, column]) => [
        `INSERT INTO vector_analysis_columns
          SELECT 'public', '${table}', '${column}', atttypmod, format_type(atttypid, atttypmod),
            attnotnull OR EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = attrelid AND attnum = ANY (conkey)),
            (SELECT count(*) FROM ${table})
          FROM pg_attribute WHERE attrelid = '${table}'::regclass AND attname = '${column}'`,
        `INSERT INTO vector_analysis_storage_consumption
          SELECT 'public', '${table}', total, vectors, total - vectors, round(100.0 * vectors / nullif(total, 0), 2), rows
          FROM (SELECT pg_total_relation_size('${table}') AS total, coalesce(sum(pg_column_size(${column})), 0) AS vectors,
            count(*) AS rows FROM ${table}) AS sizes`,
      ]),
      `INSERT INTO vector_analysis_indices
        SELECT 'public', t.relname, a.attname, i.relname, m.amname, pg_relation_size(i.oid)
        FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_class t ON t.oid = indrelid
          JOIN pg_am m ON m.oid = i.relam JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = indkey[0]
        WHERE amname IN ('hnsw', 'ivfflat')`,
    );
  },
};

import { randomBytes } from "node:crypto";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import pg from "pg";
import { openConnection } from "../src/database/driver/connect.ts";
import { Sessions, type WorkLimits } from "../src/database/driver/sessions.ts";
import { targetOf } from "../src/database/driver/target.ts";

/** One PostgreSQL for a test file; it ends with the process. */
let shared: Promise<TestPostgres> | undefined;
export const postgres = () => {
  shared ??= startPostgres();
  return shared;
};

/** Runs SQL over the simple protocol; the rows of the last statement. */
export async function naive(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
    const last = Array.isArray(result) ? result.at(-1) : result;
    return last?.rows ?? [];
  } finally {
    await client.end();
  }
}

/** A new database, filled by `setup`, with an ordinary role that may read and write the tables of `public`. */
export async function lab(setup = "") {
  const server = await postgres();
  const adminUrl = await server.createDatabase();
  const role = `reader_${randomBytes(5).toString("hex")}`;
  const password = `pw-${randomBytes(8).toString("hex")}`;
  await naive(
    adminUrl,
    `CREATE ROLE ${role} LOGIN PASSWORD '${password}'; GRANT ALL ON SCHEMA public TO ${role};
     ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO ${role};
     ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON SEQUENCES TO ${role};
     ${setup}`,
  );
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  return {
    adminUrl,
    url: url.href,
    role,
    password,
    /** Runs SQL as the superuser, over the simple protocol as a naive server would. */
    admin: (sql: string) => naive(adminUrl, sql),
    async dispose() {
      const base = new URL(adminUrl);
      const name = base.pathname.slice(1);
      base.pathname = "/postgres";
      await naive(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await naive(server.url, `DROP ROLE IF EXISTS ${role}`);
    },
  };
}

export type Lab = Awaited<ReturnType<typeof lab>>;

/** The domain's sessions with a database on a URL. */
export function databaseOn(url: string, limits: Partial<WorkLimits> = {}): Sessions {
  const target = targetOf(url, {});
  return new Sessions(
    target.label,
    {
      timeoutMs: 20_000,
      maxConnections: 3,
      allowPrivilegedRole: false,
      allowAdmin: false,
      allowFunction: [],
      ...limits,
    },
    { open: () => openConnection(target) },
  );
}

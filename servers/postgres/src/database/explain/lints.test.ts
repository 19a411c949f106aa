import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { labFor } from "../../../test/session.ts";
import { PROBLEMS } from "./lints.ts";

const COMMON = `
  CREATE ROLE anon; CREATE ROLE authenticated; GRANT USAGE ON SCHEMA public TO anon, authenticated;
  CREATE SCHEMA auth; CREATE TABLE auth.users (id int PRIMARY KEY, email text UNIQUE);
  CREATE FUNCTION auth.uid() RETURNS int LANGUAGE sql STABLE SET search_path = '' AS 'SELECT 1';
  CREATE TABLE t (id int PRIMARY KEY, n int); CREATE TABLE safe (id int PRIMARY KEY, n int); ALTER TABLE safe ENABLE ROW LEVEL SECURITY;
  GRANT ALL ON safe TO anon`;
const FOREIGN = `CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE f (id int) SERVER s`;
const GRAPHQL = `INSERT INTO pg_extension VALUES (99999, 'pg_graphql', 10, 'public'::regnamespace, false, '1')`;
const BUCKETS = `CREATE SCHEMA storage; CREATE TABLE storage.buckets (id text, public boolean); CREATE TABLE storage.objects (bucket_id text);
  INSERT INTO storage.buckets VALUES ('a<b', true), ('closed', false)`;
const QUEUE =
  "CREATE SCHEMA pgmq; CREATE SCHEMA pgmq_public; CREATE TABLE pgmq.q_jobs (id int); GRANT USAGE ON SCHEMA pgmq_public TO anon";

/** For each problem: what has it, the objects that are found, and what looks similar but is fine. */
const CASES: Readonly<
  Record<string, readonly [bad: string, objects: readonly string[], good: string]>
> = {
  "row security is off, API roles can read it, and columns look confidential": [
    "CREATE TABLE p (id int, password_hash text, note text); GRANT SELECT ON p TO anon",
    ["p (password_hash)"],
    "CREATE TABLE p (id int, password_hash text); CREATE TABLE compass (id int, passes int); GRANT SELECT ON compass TO anon",
  ],
  "row security is off, and API roles can use it": [
    "GRANT UPDATE (n) ON t TO authenticated",
    ["t (authenticated)"],
    "CREATE SCHEMA closed; CREATE TABLE closed.away (id int); GRANT ALL ON closed.away TO anon",
  ],
  "PUBLIC has privileges, and row security is off": [
    "GRANT SELECT ON t TO PUBLIC",
    ["t"],
    "GRANT SELECT ON safe TO PUBLIC; GRANT SELECT ON t TO anon",
  ],
  "has policies, but row security is off": [
    "CREATE POLICY p ON t USING (true)",
    ["t"],
    "CREATE POLICY p ON safe USING (true)",
  ],
  "policy for PUBLIC or API roles lets them write any row": [
    "CREATE POLICY p ON safe FOR UPDATE TO anon USING (true)",
    ["safe (p)"],
    "CREATE POLICY p ON safe FOR SELECT TO anon USING (true); CREATE POLICY q ON safe FOR UPDATE TO anon USING (id = 1)",
  ],
  "policy trusts user_metadata, which users can change themselves": [
    "CREATE POLICY p ON safe USING (current_setting('user_metadata') = 'admin')",
    ["safe (p)"],
    "CREATE POLICY p ON safe USING (current_setting('app_metadata') = 'admin')",
  ],
  "view reads a table with row security as its owner, which bypasses it; set security_invoker": [
    "CREATE VIEW v AS SELECT * FROM safe",
    ["v (safe)"],
    "CREATE VIEW v AS SELECT * FROM t",
  ],
  "view gives API roles what its owner may read; set security_invoker": [
    "CREATE VIEW v AS SELECT * FROM t; GRANT SELECT ON v TO anon",
    ["v (anon)"],
    "CREATE VIEW v AS SELECT * FROM t",
  ],
  "view shows the users of the login service to API roles": [
    "CREATE VIEW v AS SELECT email FROM auth.users; GRANT SELECT ON v TO anon",
    ["v (anon)"],
    "CREATE VIEW v AS SELECT email FROM auth.users",
  ],
  "materialized view, which has no row security, is readable by API roles": [
    "CREATE MATERIALIZED VIEW m AS SELECT 1; GRANT SELECT ON m TO anon",
    ["m (anon)"],
    "CREATE MATERIALIZED VIEW m AS SELECT 1",
  ],
  "foreign table, which has no row security, is usable by API roles": [
    `${FOREIGN}; GRANT SELECT ON f TO anon`,
    ["f (anon)"],
    FOREIGN,
  ],
  "message queue without row security, which API roles can read through pgmq_public": [
    `${QUEUE}; GRANT SELECT ON pgmq.q_jobs TO anon`,
    ["pgmq.q_jobs (anon)"],
    `${QUEUE}; GRANT SELECT ON pgmq.q_jobs TO anon; ALTER TABLE pgmq.q_jobs ENABLE ROW LEVEL SECURITY`,
  ],
  "public storage bucket whose files API roles can list": [
    `${BUCKETS}; CREATE POLICY p ON storage.objects FOR SELECT TO anon USING (bucket_id = 'a<b')`,
    ["a<b (p)"],
    `${BUCKETS}; CREATE POLICY p ON storage.objects FOR SELECT TO anon USING (bucket_id = 'closed' OR bucket_id = 'a<b' AND true);
     ALTER TABLE storage.buckets RENAME TO others; CREATE VIEW storage.buckets AS SELECT 1 / 0 AS id, true AS public`,
  ],
  "visible to API roles in the GraphQL schema, because they may SELECT it": [
    `${GRAPHQL}; REVOKE ALL ON safe FROM anon; GRANT SELECT (id) ON t TO authenticated`,
    ["t (authenticated)"],
    `${GRAPHQL}; REVOKE ALL ON safe FROM anon`,
  ],
  "foreign key to a unique column of the login service, which its updates may drop; reference its primary key":
    [
      "CREATE TABLE r (id int PRIMARY KEY, email text CONSTRAINT by_email REFERENCES auth.users (email))",
      ["r (by_email)"],
      "CREATE TABLE r (id int PRIMARY KEY REFERENCES auth.users)",
    ],
  "SECURITY DEFINER function can be called by API roles": [
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    ["f() (anon, authenticated)"],
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; REVOKE ALL ON FUNCTION f FROM PUBLIC",
  ],
  "SECURITY DEFINER without a fixed search_path": [
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    ["f()"],
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = '' AS 'SELECT 1'",
  ],
  "function without a fixed search_path, in a database with API roles": [
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ["f()"],
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql SET search_path = '' AS 'SELECT 1'",
  ],
  "extension is older than the version on this server; ALTER EXTENSION … UPDATE": [
    "CREATE EXTENSION amcheck VERSION '1.0'",
    [expect.stringMatching(/^amcheck \(1\.0, available 1\.\d\)$/)],
    "CREATE EXTENSION amcheck",
  ],
  "no primary key": ["CREATE TABLE r (id int UNIQUE)", ["r"], "CREATE TEMP TABLE r (id int)"],
  "row security is on without a policy: only the owner sees rows": [
    "",
    ["safe"],
    "CREATE POLICY p ON safe USING (true)",
  ],
  "several permissive policies for the same command and role: each is evaluated for every row": [
    "CREATE POLICY p ON safe FOR SELECT USING (id = 1); CREATE POLICY q ON safe TO anon USING (id = 2)",
    ["safe (2 policies)"],
    "CREATE POLICY p ON safe FOR SELECT USING (id = 1); CREATE POLICY q ON safe AS RESTRICTIVE USING (id = 2)",
  ],
  "policy asks about the request once for every row; wrap the call in (SELECT …)": [
    "CREATE POLICY p ON safe USING (n = auth.uid())",
    ["safe (p)"],
    "CREATE POLICY p ON safe USING (n = (SELECT auth.uid()))",
  ],
  "extension in schema public, where its functions mix with yours": [
    "CREATE EXTENSION amcheck",
    ["amcheck"],
    "CREATE EXTENSION amcheck SCHEMA auth",
  ],
  "column of a reg type, which pg_upgrade refuses": [
    "CREATE TABLE r (f regproc)",
    ["r (f regproc)"],
    "CREATE TABLE r (f regclass)",
  ],
  invalid: [
    "CREATE INDEX i ON t (n); UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass",
    ["i on t"],
    "CREATE INDEX i ON t (n)",
  ],
  "never used, and over 1 MB": [
    "CREATE TABLE r AS SELECT n FROM generate_series(1, 100000) n; CREATE INDEX i ON r (n)",
    [expect.stringMatching(/^i on r \(\d+ kB\)$/)],
    "CREATE INDEX i ON t (n)",
  ],
  "the same as another index": [
    "CREATE INDEX i ON t (n); CREATE INDEX j ON t (n)",
    ["t (i, j)"],
    "CREATE INDEX i ON t (n); CREATE INDEX j ON t (n DESC)",
  ],
  "foreign key without an index: changes of the referenced table scan this one": [
    "ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (n) REFERENCES safe",
    ["t (fk)"],
    "ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (n) REFERENCES safe; CREATE INDEX ON t (n, id)",
  ],
};

const world = labFor();
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: world.adminUrl });
  await client.connect();
});
afterAll(() => client?.end());

it.each(Object.entries(PROBLEMS))("%s", async (problem, lint) => {
  const [bad, objects, good] = CASES[problem] ?? ["", ["a case for it"], ""];
  const objectsIn = async (setup: string) => {
    await client.query(`BEGIN; ${COMMON}; ${setup}`);
    const { rows } = await client.query<{ object: string }>(lint);
    await client.query("ROLLBACK");
    return rows.map(({ object }) => object);
  };
  expect(await objectsIn(bad)).toEqual(objects);
  expect(await objectsIn(good)).toEqual([]);
});

import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { CHECKS, inspectionOf } from "../src/database/explain/health.ts";
import { lab } from "./lab.ts";

/**
 * Supabase's splinter as the oracle of pg_health: its fixtures build a database step by step, and at each step its own lint
 * and ours must name the same objects. REFMCP_SPLINTER is a checkout of supabase/splinter.
 */
const SPLINTER = process.env.REFMCP_SPLINTER ?? "";

const LINTS = readFileSync(new URL("../src/database/explain/lints.sql", import.meta.url), "utf8");
/** The checks and problems of our lints that name splinter's numbers. */
const SAME = [...LINTS.matchAll(/^-- (\w+): (.*) \[splinter (.*)\]$/gm)].map(
  ([, check = "", problem = "", numbers = ""]) => ({
    check,
    problem,
    numbers: numbers.split(", "),
  }),
);
const isHere = existsSync(join(SPLINTER, "lints"));
/** Of its numbers, 0012 has no SQL and 0020, bloat, no fixture. */
const NAMES = isHere
  ? (await readdir(join(SPLINTER, "test/sql"))).map((file) => file.replace(/\.sql$/, ""))
  : ["none"];
const ours = (lint: string) => SAME.filter(({ numbers }) => numbers.includes(lint.slice(0, 4)));

/** Steps of fixtures, from 0, where we answer otherwise on purpose. */
const DIFFERENT: Readonly<
  Record<string, { readonly step: number; readonly ours: readonly string[] }>
> = {
  // An index on the columns of the key in another order serves it as well.
  "0001_unindexed_foreign_keys": { step: 3, ours: [] },
  // A small index costs little.
  "0005_unused_index": { step: 1, ours: [] },
  // One problem for both roles, which names them.
  "0026_pg_graphql_anon_table_exposed": { step: 6, ours: ["auth_only_tbl"] },
  "0027_pg_graphql_authenticated_table_exposed": { step: 6, ours: ["anon_only_tbl"] },
  // Schemas are judged by what the roles may use, not by PostgREST's setting, which can change.
  "0017_foreign_table_in_api": { step: 2, ours: ["fdw_table"] },
};

/** splinter's names of objects, as ours: without arguments and the schema public. */
const bare = (name: string) => name.replace(/^public\./, "").replaceAll('"', "");

it.for(NAMES.filter((lint) => !isHere || ours(lint).length > 0))(
  "pg_health agrees with splinter's %s at each step of its fixture",
  async (lint, { skip }) => {
    if (!isHere) return skip("needs a checkout of supabase/splinter in REFMCP_SPLINTER");
    const problems = ours(lint).map(({ problem }) => problem);
    const check = CHECKS.find((name) => name === ours(lint)[0]?.check) ?? "security";
    const world = await lab();
    onTestFinished(() => world.dispose());
    const client = new pg.Client({ connectionString: world.adminUrl });
    await client.connect();
    onTestFinished(() => client.end());
    const folder = join(SPLINTER, "lints");
    const drop = () =>
      world.admin(`DO $$ DECLARE r text; BEGIN FOREACH r IN ARRAY '{anon,authenticated,custom_role,supabase_admin}'::text[] LOOP
        IF to_regrole(r) IS NOT NULL THEN EXECUTE format('DROP OWNED BY %1$I CASCADE; DROP ROLE %1$I', r); END IF; END LOOP; END $$`);
    await drop();
    onTestFinished(async () => void (await drop()));
    await client.query(await readFile(join(SPLINTER, "test/fixtures.sql"), "utf8"));
    for (const name of await readdir(folder))
      await client.query(await readFile(join(folder, name), "utf8"));
    await client.query("RESET search_path");
    // What Supabase itself owns is not judged, as there.
    await client.query(
      "CREATE ROLE supabase_admin; ALTER SCHEMA auth OWNER TO supabase_admin; ALTER SCHEMA extensions OWNER TO supabase_admin; ALTER SCHEMA lint OWNER TO supabase_admin",
    );
    const file = await readFile(join(SPLINTER, "test/sql", `${lint}.sql`), "utf8");
    // Which this server does not have; only its entry matters.
    const fixture = file.replace(
      /create extension pg_graphql;/,
      "INSERT INTO pg_catalog.pg_extension VALUES (99999, 'pg_graphql', 10, 'public'::regnamespace, false, '1');",
    );
    const steps = fixture.split(/^\s*select\b[^;]*?from\s+lint\."[^"]+"[^;]*;/gim);
    const compared: { theirs: string[]; ours: string[] }[] = [];
    for (const [at, step] of steps.entries()) {
      await client.query(step);
      if (at === steps.length - 1) break;
      const { rows } = await client.query<{ metadata: Record<string, string> }>(
        `SELECT metadata FROM lint."${lint}"`,
      );
      const theirs = rows.map(({ metadata: { schema, name, extension_name, bucket_id } }) =>
        bare(bucket_id ?? extension_name ?? (name === undefined ? "" : `${schema}.${name}`)),
      );
      const { statement, judge } = inspectionOf(check);
      const { details = [] } = judge((await client.query(statement)).rows);
      const objects = details
        .filter(({ problem }) => problems.includes(problem))
        .flatMap(({ objects }): string[] => objects)
        .map((object) => bare(object.replace(/ ?\(.*$/s, "")));
      const distinct = (names: string[]) => [...new Set(names)].sort();
      compared.push({ theirs: distinct(theirs), ours: distinct(objects) });
    }
    expect(compared.length).toBeGreaterThan(0);
    const different = DIFFERENT[lint];
    for (const [at, { theirs, ours }] of compared.entries())
      expect(ours, `step ${at}`).toEqual(at === different?.step ? different.ours : theirs);
  },
);

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

let world: Lab;
let state: string;
let server: Talk;
let questions: string[];

/** A database with tables that the server's role owns. */
async function start(setup: string, args: readonly string[] = []) {
  questions = [];
  state = await mkdtemp(join(tmpdir(), "refmcp-undo-"));
  world = await lab();
  await world.admin(`SET ROLE ${world.role}; ${setup}`);
  server = await talk(["--url", world.url, "--allow-write", "--undo-dir", state, ...args], {
    elicit: ({ message }) => {
      questions.push(message);
      return { action: "accept", content: { confirm: true } };
    },
  });
}
afterEach(async () => {
  await server.close();
  await world.dispose();
  await rm(state, { recursive: true, force: true });
});

const content = async (...tables: string[]) => {
  const texts: Record<string, unknown> = {};
  for (const table of tables)
    texts[table] = (
      await world.admin(`SELECT array_agg(t::text ORDER BY t::text) AS rows FROM ${table} t`)
    )[0]?.rows;
  return texts;
};
const change = async (...statements: string[]): Promise<string> => {
  const answer = await server.data("pg_execute", { statements });
  return String(answer.change_id);
};
const undo = (change_id: string, dry_run = false) => server.call("pg_undo_change", { change_id, dry_run });

/** Runs statements, undoes them and undoes the undo; the tables must be as before and as after. */
async function roundTrip(tables: readonly string[], ...statements: string[]) {
  const before = await content(...tables);
  const id = await change(...statements);
  const after = await content(...tables);
  expect(after, statements.join("; ")).not.toEqual(before);
  const undone = await undo(id);
  expect(undone.text).toContain(`"undone":"${id}"`);
  expect(await content(...tables), statements.join("; ")).toEqual(before);
  expect((await undo(id)).text).toMatch(/has already been undone/);
  const again = await undo(JSON.parse(undone.text).change_id);
  expect(again.isError, again.text).toBe(false);
  expect(await content(...tables)).toEqual(after);
  await undo(JSON.parse(again.text).change_id);
  expect(await content(...tables)).toEqual(before);
}

describe("undo", () => {
  it("restores simple changes", async () => {
    await start(
      "CREATE TABLE t (id int PRIMARY KEY, x text, g int GENERATED ALWAYS AS (id * 2) STORED); INSERT INTO t SELECT n, 'a' || n FROM generate_series(1, 50) n; CREATE TABLE nokey (x json, y text); INSERT INTO nokey SELECT '{\"a\": 1}', n % 3 FROM generate_series(1, 20) n; CREATE TABLE other (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x text)",
    );
    for (const sql of [
      "UPDATE t SET x = x || '\"\\,' WHERE id < 3 RETURNING id, x;",
      "UPDATE t SET id = -id WHERE id < 10",
      "UPDATE t AS z SET x = null FROM other o RIGHT JOIN t w ON true WHERE z.id = w.id",
      "DELETE FROM t",
      "DELETE FROM t WHERE id > 10 -- comment",
      "INSERT INTO t VALUES (100, null), (101, '')",
      "INSERT INTO t VALUES (1, 'new'), (200, 'b') ON CONFLICT (id) DO UPDATE SET x = excluded.x",
      "WITH gone AS (DELETE FROM t WHERE id < 5 RETURNING *) INSERT INTO other (x) SELECT x FROM gone",
      "DELETE FROM nokey WHERE ctid IN (SELECT ctid FROM nokey LIMIT 3)",
      "UPDATE nokey SET y = 'z' WHERE y = '1'",
      "DO $$ BEGIN UPDATE t SET x = 'do'; DELETE FROM t WHERE id = 7; INSERT INTO t VALUES (7, 'again'); END $$",
    ])
      await roundTrip(["t", "nokey", "other"], sql);
    await roundTrip(
      ["t"],
      "INSERT INTO t VALUES (300, 'x')",
      "UPDATE t SET x = 'y' WHERE id = 300",
      "UPDATE t SET x = 'y' WHERE id = 1",
      "UPDATE t SET x = 'z' WHERE id = 1",
      "DELETE FROM t WHERE id = 2",
    );
    expect(await readdir(join(state, "changes"))).toHaveLength(1);
  });

  it("covers what triggers, cascades, functions and rules do, wherever they do it", async () => {
    await start(`
      CREATE TABLE parent (id int PRIMARY KEY, n int DEFAULT 0); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, up int REFERENCES child ON DELETE SET NULL);
      CREATE TABLE audit (at timestamptz DEFAULT now(), what text); CREATE TABLE victim (x int);
      INSERT INTO parent SELECT n FROM generate_series(1, 10) n; INSERT INTO child SELECT n, 1 + n % 10, nullif(n - 1, 0) FROM generate_series(1, 40) n; INSERT INTO victim SELECT n % 2 FROM generate_series(1, 30) n;
      CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO audit (what) VALUES (TG_OP); UPDATE parent SET n = n + 1 WHERE id = 10 AND pg_trigger_depth() < 2; RETURN NULL; END $$;
      CREATE TRIGGER watching AFTER INSERT OR UPDATE OR DELETE ON child FOR EACH ROW EXECUTE FUNCTION watch();
      CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n + 100; RETURN NEW; END $$;
      CREATE TRIGGER stamping BEFORE UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION stamp();
      CREATE FUNCTION empty_victim() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM victim; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON parent DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION empty_victim();
      CREATE FUNCTION tricky() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
        BEGIN DELETE FROM victim WHERE x = 0; RAISE EXCEPTION 'x'; EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN UPDATE victim SET x = 7 WHERE x = 1; EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN INSERT INTO parent VALUES (1); EXCEPTION WHEN unique_violation THEN UPDATE parent SET n = 5 WHERE id = 1; END;
        BEGIN INSERT INTO parent VALUES (77); EXCEPTION WHEN unique_violation THEN NULL; END;
        RETURN 1; END $$;
      CREATE PROCEDURE called() LANGUAGE plpgsql AS $$ BEGIN UPDATE victim SET x = x + 1; END $$;
      CREATE VIEW seen AS SELECT * FROM victim; CREATE FUNCTION through() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE victim SET x = -1; RETURN NEW; END $$;
      CREATE TRIGGER instead INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION through();
      CREATE TABLE ruled (x int); CREATE RULE ruling AS ON INSERT TO ruled DO INSTEAD DELETE FROM victim WHERE x = new.x`);
    const all = ["parent", "child", "audit", "victim"];
    for (const sql of [
      "DELETE FROM parent WHERE id = 1",
      "DELETE FROM parent",
      "UPDATE parent SET id = id + 100 WHERE id < 4",
      "INSERT INTO parent VALUES (50)",
      "SELECT tricky()",
      "CALL called()",
      "INSERT INTO seen VALUES (3)",
      "INSERT INTO ruled VALUES (1)",
      "DELETE FROM child WHERE id < 5",
      "SELECT * FROM parent FOR UPDATE; ".slice(0, -2),
    ].slice(0, -1))
      await roundTrip(all, sql);
    expect(questions).toEqual([]);
    const types = await world.admin("SELECT version()");
    expect(types).toHaveLength(1);
  });
});

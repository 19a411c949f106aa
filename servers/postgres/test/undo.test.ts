import { describe, expect, it } from "vitest";
import { undoing } from "./undoing.ts";

describe("undo", () => {
  it("restores what single statements changed", async () => {
    const { roundTrip, change, undo, questions } = await undoing(`
      CREATE TABLE t (id int PRIMARY KEY, x text, g int GENERATED ALWAYS AS (id * 2) STORED); INSERT INTO t SELECT n, 'a' || n FROM generate_series(1, 50) n;
      CREATE TABLE nokey (x json, y text); INSERT INTO nokey SELECT '{"a": 1}', n % 3 FROM generate_series(1, 20) n;
      CREATE TABLE other (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x text);`);
    for (const sql of [
      "UPDATE t SET x = x || '\"\\, é' WHERE id < 3 RETURNING id, x;",
      "UPDATE t AS z SET x = null FROM other o RIGHT JOIN t w ON true WHERE z.id = w.id",
      "DELETE FROM t",
      "DELETE FROM t WHERE id > 10 -- comment",
      "INSERT INTO t VALUES (100, null), (101, '')",
      "INSERT INTO t VALUES (1, 'new'), (200, 'b') ON CONFLICT (id) DO UPDATE SET x = excluded.x",
      "DELETE FROM nokey WHERE ctid IN (SELECT ctid FROM nokey LIMIT 3)",
      "INSERT INTO nokey SELECT * FROM nokey",
    ])
      await roundTrip(["t", "nokey", "other"], sql);
    // Rows that were changed more than once.
    await roundTrip(
      ["t"],
      "INSERT INTO t VALUES (300, 'x')",
      "UPDATE t SET x = 'y' WHERE id IN (1, 300)",
      "UPDATE t SET x = 'z' WHERE id = 1",
      "DELETE FROM t WHERE id = 2",
      "INSERT INTO t VALUES (2, 'again')",
    );
    expect(questions).toEqual([]);
    const id = await change("DELETE FROM t");
    await undo(id);
    expect((await undo(id)).text).toMatch(/was already undone by/);
  });

  it.each([
    ["deleted", "k", (name: string) => `DELETE FROM ${name}`],
    ["deleted by key", "p", (name: string) => `DELETE FROM ${name}`],
    ["changed", "p", (name: string) => `UPDATE ${name} SET v = NULL WHERE v IS NOT NULL`],
  ])("restores every type exactly, with any settings of the role: %s", async (_, kind, change) => {
    const types: Readonly<Record<string, readonly string[]>> = {
      float8: ["0.1::float8 + 0.2", "'NaN'", "'-0'", "1e-320"],
      float4: ["0.1", "'Infinity'"],
      numeric: ["'NaN'", "1.500", "1e-30"],
      money: ["'12.34'"],
      timestamptz: ["'2026-03-29 01:30:00.123456+00'", "'infinity'", "'0044-03-15 00:00+00 BC'"],
      timetz: ["'10:00:00+05:30'"],
      interval: ["'1 year -2 days +03:04:05.6'", "'-1 month 3 hours'"],
      bytea: ["'\\x00ff5c22'"],
      text: ["E'line\\nbreak \\\\ \" '' ,(){} \\u00e9 \\t'", "''"],
      "char(5)": ["'ab '"],
      '"char"': ["'x'"],
      "text[]": ["ARRAY['a,b', NULL, '\"', '\\', '']", "'{}'", "'[2:3]={x,y}'"],
      "int[][]": ["'{{1,2},{3,NULL}}'"],
      json: ['\'{"b": 1,  "a": [1.0, 1e3]}\''],
      jsonb: ["'{\"b\": 1e400}'"],
      xml: ["xmlparse(content '<a b=\"1\">x</a><c/>')"],
      pair: ["ROW(1, 'a,\"b\\')::pair", "ROW(NULL, '')::pair"],
      "pair[]": ["ARRAY[ROW(1, 'x')]::pair[]"],
      mood: ["'calm down'"],
      positive: ["7"],
      int4range: ["'[1,5)'", "'empty'"],
      tstzrange: ["'[2020-01-01 00:00+00, infinity)'"],
      point: ["'(0.1,1e300)'"],
      polygon: ["'((0,0),(1,1),(1,0))'"],
      "box[]": ["ARRAY['(1,1),(0,0)'::box, '(2,2),(0,0)']"],
      inet: ["'10.0.0.1/8'", "'::1'"],
      "bit varying": ["B'1011'"],
      uuid: ["'00000000-0000-0000-0000-000000000001'"],
      tsvector: ["'a:1 b:2A'"],
      regclass: ["'public.\"Odd name\"'", "'pg_class'"],
      oid: ["4294967295"],
      bigint: ["9223372036854775807", "-9223372036854775808"],
      boolean: ["true", "false"],
    };
    const tables = Object.entries(types).map(
      ([type, values], at) =>
        `CREATE TABLE k${at} (v ${type}, id int GENERATED ALWAYS AS IDENTITY); INSERT INTO k${at} (v) VALUES ${values.map((value) => `(${value}), `).join("")} (NULL);
         CREATE TABLE p${at} (id int PRIMARY KEY, v ${type}); INSERT INTO p${at} SELECT id, v FROM k${at}`,
    );
    const { roundTrip, world } = await undoing(
      `CREATE TYPE pair AS (a int, b text); CREATE TYPE mood AS ENUM ('calm down', 'busy'); CREATE DOMAIN positive AS int CHECK (value > 0); CREATE TABLE "Odd name" (x int); ${tables.join("; ")}`,
      {
        admin: `ALTER ROLE ROLE_NAME SET IntervalStyle = 'sql_standard'; ALTER ROLE ROLE_NAME SET TimeZone = 'America/New_York';
          ALTER ROLE ROLE_NAME SET extra_float_digits = -15; ALTER ROLE ROLE_NAME SET xmloption = 'document'`,
      },
    );
    expect(await world.admin("SELECT count(*)::int AS n FROM p0")).toEqual([{ n: 5 }]);
    const names = tables.map((_, at) => `${kind}${at}`);
    await roundTrip(names, ...names.map(change));
  });

  it("asks about what triggers, cascades, functions and rules do, with the exact loss", async () => {
    const { content, questions, server } = await undoing(`
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
      ALTER TABLE child ENABLE ALWAYS TRIGGER watching; CREATE TRIGGER off BEFORE UPDATE ON child FOR EACH ROW EXECUTE FUNCTION watch(); ALTER TABLE child DISABLE TRIGGER off;
      CREATE TRIGGER instead INSTEAD OF INSERT ON seen FOR EACH ROW EXECUTE FUNCTION through();
      CREATE TABLE ruled (x int); CREATE RULE ruling AS ON INSERT TO ruled DO INSTEAD DELETE FROM victim WHERE x = new.x`);
    const all = ["parent", "child", "audit", "victim"];
    for (const [sql, loss] of [
      ["DELETE FROM parent WHERE id = 1", /DELETE of 1 row of parent.*DELETE of 4 rows of child/],
      ["UPDATE parent SET id = id + 100 WHERE id < 4", /UPDATE of \d+ rows of (child|parent)/],
      ["INSERT INTO parent VALUES (50)", /DELETE of 30 rows of victim/],
      ["SELECT tricky()", /UPDATE of \d+ rows? of (victim|parent)/],
      ["CALL called()", /UPDATE of 30 rows of victim/],
      ["INSERT INTO seen VALUES (3)", /UPDATE of 30 rows of victim/],
      ["INSERT INTO ruled VALUES (1)", /DELETE of 15 rows of victim/],
      ["WITH gone AS (DELETE FROM victim RETURNING *) SELECT * FROM gone", /DELETE of 30 rows/],
      ["UPDATE audit SET what = 'x'", /^$/],
    ] as const) {
      const before = await content(...all);
      const earlier = questions.length;
      const args = { statements: [sql], dry_run: true };
      const { loss: lossText = "" } = await server.data("pg_execute", args);
      expect(lossText, sql).toMatch(loss);
      expect(await content(...all), sql).toEqual(before);
      expect(questions).toHaveLength(earlier);
    }
    // Rows that are only locked are not changed.
    expect(
      await server.data("pg_execute", { statements: ["SELECT id FROM parent FOR UPDATE"] }),
    ).not.toHaveProperty("change_id");
  });

  it("restores rows of partitions", async () => {
    const { roundTrip } = await undoing(`
      CREATE TABLE sale (id int, day int, x text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
      CREATE TABLE sale_1 PARTITION OF sale FOR VALUES FROM (0) TO (10); CREATE TABLE sale_2 (x text, gone int, day int NOT NULL, id int NOT NULL); ALTER TABLE sale_2 DROP COLUMN gone;
      ALTER TABLE sale ATTACH PARTITION sale_2 FOR VALUES FROM (10) TO (20);
      INSERT INTO sale SELECT n, n % 20, 's' || n FROM generate_series(1, 60) n;
      CREATE TABLE base (id int PRIMARY KEY, x int); CREATE TABLE derived (y int, PRIMARY KEY (id)) INHERITS (base); INSERT INTO base VALUES (1, 1); INSERT INTO derived VALUES (1, 2, 3);
      CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.x := NEW.x || '!'; RETURN NEW; END $$;
      CREATE TRIGGER stamping BEFORE UPDATE ON sale FOR EACH ROW EXECUTE FUNCTION stamp()`);
    for (const sql of [
      "UPDATE sale SET x = 'y' WHERE id < 30",
      "DELETE FROM sale WHERE day > 5",
      "INSERT INTO sale VALUES (100, 1, 'a'), (101, 11, 'b')",
      "UPDATE base SET x = 9",
      "DELETE FROM base",
    ])
      await roundTrip(["sale", "base"], sql);
  });

  it("restores equal keys that were written differently, in more rows than are read at once", async () => {
    const { roundTrip } = await undoing(
      "CREATE TABLE t (id numeric PRIMARY KEY, x int); INSERT INTO t SELECT n, n FROM generate_series(1, 2500) n",
    );
    await roundTrip(["t"], "UPDATE t SET id = id + 0.00, x = 0 WHERE id < 2200");
    await roundTrip(
      ["t"],
      "DELETE FROM t WHERE id < 1500",
      "INSERT INTO t SELECT n + 0.0, 7 FROM generate_series(1000, 1400) n",
      "UPDATE t SET x = 1 WHERE id > 1450",
    );
  });

  it("names a trigger that this role can't turn off, if it makes the rows differ", async () => {
    const { change, undo, content } = await undoing("SELECT 1", {
      admin: `CREATE TABLE stamped (id int PRIMARY KEY, x text, n int DEFAULT 0); INSERT INTO stamped VALUES (1, 'a'); GRANT ALL ON stamped TO ROLE_NAME;
        CREATE FUNCTION bump() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.n := NEW.n + 1; RETURN NEW; END $$;
        CREATE TRIGGER bumping BEFORE UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION bump()`,
    });
    const id = await change("UPDATE stamped SET x = 'b'");
    const after = await content("stamped");
    expect((await undo(id)).text).toMatch(
      /was not undone: triggers \(bumping of public\.stamped\) also changed public\.stamped\. Nothing was changed/,
    );
    expect(await content("stamped")).toEqual(after);
    const inserted = await change("INSERT INTO stamped VALUES (2)");
    expect((await undo(inserted)).isError).toBe(false);
  });

  it("refuses to undo unique values that moved from row to row: each is in another one's way", async () => {
    const { change, undo, content } = await undoing(
      `CREATE TABLE ranks (id int PRIMARY KEY, pos int UNIQUE, twice int GENERATED ALWAYS AS (pos * 2) STORED); INSERT INTO ranks SELECT n, 100 - n FROM generate_series(1, 50) n;
       CREATE TABLE uses (rank_id int REFERENCES ranks); INSERT INTO uses SELECT id FROM ranks; CREATE TABLE log (id serial PRIMARY KEY, what text);
       CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log (what) VALUES (TG_OP); RETURN NULL; END $$;
       CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON ranks FOR EACH ROW EXECUTE FUNCTION noted()`,
    );
    const id = await change("UPDATE ranks SET pos = pos + 1");
    const after = await content("ranks", "uses", "log");
    expect((await undo(id)).text).toMatch(/was not undone: duplicate key .*Nothing was changed/s);
    expect(await content("ranks", "uses", "log")).toEqual(after);
  });
});

import type { Era } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { type Lab, lab } from "./lab.ts";
import { talk } from "./session.ts";

let world: Lab;
beforeEach(async () => {
  world = await lab(`
    CREATE TABLE people (id int PRIMARY KEY, name text); INSERT INTO people SELECT n, 'p' || n FROM generate_series(1, 2500) n;
    CREATE TABLE pets (id int PRIMARY KEY, owner int REFERENCES people ON DELETE CASCADE); INSERT INTO pets SELECT n, n FROM generate_series(1, 20) n;
    CREATE VIEW names AS SELECT name FROM people;
    CREATE FUNCTION purge() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM pets; RETURN 1; END $$;`);
  for (const table of ["people", "pets", "names"])
    await world.admin(`ALTER TABLE ${table} OWNER TO ${world.role}`);
});
afterEach(() => world.dispose());

const counts =
  "SELECT (SELECT count(*) FROM people)::int AS people, (SELECT count(*) FROM pets)::int AS pets";
const rows = async () => (await world.admin(counts))[0];
const FULL = { people: 2500, pets: 20 };

/** Statements that lose data, and the loss that the user must see. */
const LOSSES: readonly (readonly [sql: string, loss: RegExp])[] = [
  ["DELETE FROM pets", /DELETE of 20 rows of pets \(the record of changes is off \(--no-undo\)\)/],
  ["DELETE FROM people WHERE id = id", /DELETE of 2,500 rows of people; DELETE of 20 rows of pets/],
  [
    "TRUNCATE people CASCADE",
    /TRUNCATE people CASCADE \(2,500 rows\).*truncate cascades to table "pets"/,
  ],
  ["DROP TABLE pets", /DROP TABLE pets \(20 rows\)/],
  ["DROP TABLE people CASCADE", /DROP TABLE people CASCADE \(2,500 rows\).*drop cascades to/],
  ["ALTER TABLE people DROP COLUMN name CASCADE", /ALTER TABLE people DROP COLUMN name CASCADE/],
  [
    "WITH gone AS (DELETE FROM pets RETURNING *) SELECT count(*) FROM gone",
    /DELETE of 20 rows of pets/,
  ],
  [
    "INSERT INTO pets SELECT id, 1 FROM pets ON CONFLICT (id) DO UPDATE SET owner = 1",
    /UPDATE of 20 rows of pets/,
  ],
  ["SELECT purge()", /DELETE of 20 rows of pets/],
  ["DO $$ BEGIN DELETE FROM pets; END $$", /DO, a block of code.*DELETE FROM pets/],
];

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("destruction, %s era", (era) => {
  it("is refused if the client can't ask, naming the loss and the option; nothing is changed", async () => {
    const server = await talk(["--url", world.url, "--allow-write", "--no-undo"], { era });
    for (const [sql, loss] of LOSSES) {
      const text = await server.refused("pg_execute", { statements: [sql] });
      expect(text).toMatch(
        /This needs the user's confirmation.*This cannot be undone: .*--confirm never/s,
      );
      expect(text).toMatch(loss);
      expect(await rows()).toEqual(FULL);
    }
    await server.close();
  });

  it("asks again if the loss changed while the user was deciding", async () => {
    const asked: string[] = [];
    const server = await talk(["--url", world.url, "--allow-write"], {
      era,
      elicit: async ({ message }) => {
        asked.push(message);
        if (asked.length === 1) await world.admin("INSERT INTO pets VALUES (21, 21)");
        return { action: asked.length === 1 ? "accept" : "decline", content: { confirm: true } };
      },
    });
    const { isError } = await server.call("pg_execute", { statements: ["TRUNCATE pets"] });
    expect(isError).toBe(true);
    expect(asked).toEqual([
      expect.stringContaining("(20 rows)"),
      expect.stringContaining("(21 rows)"),
    ]);
    expect(await rows()).toEqual({ people: 2500, pets: 21 });
    await server.close();
  });

  it("does not ask for what can be undone, a dry run, or with --confirm never", async () => {
    const server = await talk(["--url", world.url, "--allow-write"], { era });
    const { change_id } = await server.data("pg_execute", { statements: ["DELETE FROM pets"] });
    expect(await server.data("pg_undo_change", { change_id })).toMatchObject({ committed: true });
    const dropping = { statements: ["DROP TABLE people CASCADE"], dry_run: true };
    expect(await server.data("pg_execute", dropping)).toMatchObject({
      committed: false,
      loss: expect.stringContaining("2,500 rows"),
    });
    expect(await rows()).toEqual(FULL);
    await server.close();
    const args = ["--url", world.url, "--allow-write", "--confirm", "never"];
    const trusted = await talk(args, { era });
    await trusted.data("pg_execute", { statements: ["TRUNCATE pets"] });
    expect(await rows()).toEqual({ people: 2500, pets: 0 });
    await trusted.close();
  });
});

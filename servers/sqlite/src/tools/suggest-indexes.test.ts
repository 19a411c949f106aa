import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./suggest-indexes.ts";

const enter = labs();
const hostile = '"x"" (n); DROP TABLE big; --"';
const SCHEMA = `
CREATE TABLE big (id INTEGER PRIMARY KEY, kind INT, at TEXT, "odd, name" INT, user_id INT REFERENCES users (id));
INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, i % 500, 'd' || (i % 365), i % 777, 1 FROM n;
CREATE INDEX big_at ON big (at); CREATE INDEX big_at_kind ON big (at, id);
CREATE TABLE ${hostile} (n INT, t TEXT); INSERT INTO ${hostile} SELECT kind, 'x' FROM big LIMIT 5000;`;

it("tries indexes on a workload, with estimates before and after", async () => {
  const { databases, call } = await enter(undefined, SCHEMA);
  const suggest = async (queries: string[]) =>
    Object(await tool.run(tool.input.parse({ queries }), databases, call)).suggestions;
  const workload = [
    "SELECT id FROM big WHERE kind = ?",
    'SELECT at FROM big b WHERE b."odd, name" = :value AND b.kind > 3',
    `SELECT t FROM ${hostile} WHERE n = 3`,
    "SELECT * FROM users WHERE city = ?",
    "SELECT * FROM big WHERE id = 7",
  ];
  const list = await suggest(workload);
  const created = list.filter((one: object) => "rows_read_before" in one);
  expect(created.map(({ table }: { table: string }) => table).sort()).toEqual([
    "big",
    "big",
    'x" (n); DROP TABLE big; --',
  ]);
  expect(created.map(({ create }: { create: string }) => create)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/ON "big" \("kind"/),
      expect.stringMatching(/ON "big" \("odd, name"/),
      expect.stringMatching(/ON "x"" \(n\); DROP TABLE big; --" \("n"\)$/),
    ]),
  );
  expect(created[0].rows_read_before).toBeGreaterThan(40_000);
  expect(created[2].rows_read_after).toBeLessThan(500);
  expect(list).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ create: 'CREATE INDEX "big_user_id" ON "big" ("user_id")' }),
      expect.objectContaining({
        drop: 'DROP INDEX "big_at"',
        reason: "big_at_kind starts with the same columns.",
      }),
    ]),
  );
  await expect(suggest(["DELETE FROM big"])).rejects.toMatchObject({ kind: "denied" });
  await expect(suggest(["WITH x AS (SELECT 1) DELETE FROM big"])).rejects.toMatchObject({
    kind: "denied",
  });
  await expect(suggest(["SELECT nothing FROM big"])).rejects.toThrow(/nothing/);
});

import { readPage } from "@refmcp/sql";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, lab } from "../../../test/lab.ts";
import { labs } from "../../../test/tools.ts";
import { passReading } from "../gate/gate.ts";
import { written } from "./names.ts";

const enter = labs();
const call = { budget: 20_000, signal: new AbortController().signal };

let here: Lab;
beforeAll(async () => {
  here = await lab();
});
afterAll(() => here?.dispose());

it.each([
  ["SELECT name FROM users WHERE name »ILIKE 'a%'", /Write LIKE/],
  ["SELECT name»::text FROM users", /cast\(a AS TEXT\)/],
  ["SELECT »TOP 3 name FROM users", /LIMIT n/],
  ["SELECT »now()", /datetime\('now'\)/],
  ["SELECT »date_trunc('month', city) FROM users", /start of month/],
  ["SELECT »extract(year FROM city) FROM users", /strftime/],
  ["SELECT name FROM users WHERE city > date('now') - »interval '1 day'", /'\+1 day'/],
  ["SELECT »nvl(city, '') FROM users", /coalesce/],
  ["SELECT name FROM users WHERE id = »ANY(ARRAY[1, 2])", /a IN/],
  ["SELECT name FROM users WHERE name »~ 'x'", /GLOB/],
])("SQL of another database gets a hint at its place: %s", async (marked, hint) => {
  const { databases } = here;
  const asked = { sql: marked.replace("»", ""), params: [], ...call };
  const failed = expect(readPage(databases, asked)).rejects;
  await failed.toMatchObject({
    hint: expect.stringMatching(hint),
    message: expect.stringContaining(`position ${[...marked].indexOf("»") + 1}: `),
  });
});

it("statements that show a schema elsewhere name the tool", () => {
  for (const sql of ["SHOW TABLES", "DESCRIBE users", "DESC users"])
    expect(() => passReading(sql)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("describe_tables") }),
    );
});

it("a text that contains foreign SQL gets no hint for it", async () => {
  const { databases } = here;
  const asked = { sql: "SELECT 'ILIKE ::', nme FROM users -- now(", params: [], ...call };
  await expect(readPage(databases, asked)).rejects.toThrow(
    /no such column: nme.*Did you mean name/,
  );
});

it("every name can be used in SQL unchanged", async () => {
  const words =
    "add all as by case cast check collate commit cross current_date default do each else end except exists for from full glob group if in index is isnull key left limit match natural no not nothing null offset on or order over plan raise range returning row select set table then to union using values view when where window with a_1 Capital ünicode 1st a$b a.b a-b".split(
      " ",
    );
  const columns = words.map((word) => written(word)).join(", ");
  const { databases, call } = await enter(undefined, `CREATE TABLE words (${columns});`);
  const asked = { sql: `SELECT ${columns} FROM words`, params: [] };
  const answer = await readPage(databases, { ...asked, budget: call.budget, signal: call.signal });
  expect(JSON.parse(answer).columns.map(({ name }: { name: string }) => name)).toEqual(words);
  expect([written("Capital"), written("order"), written('a"b')]).toEqual([
    "Capital",
    '"order"',
    '"a""b"',
  ]);
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { type Talk, talk } from "./session.ts";

let world: Lab;
let server: Talk;
beforeAll(async () => {
  world = await lab(
    `CREATE TABLE customers (id int PRIMARY KEY, name text);
     CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers);
     CREATE SCHEMA odd; CREATE TABLE odd."a ""b" (x int, y int, PRIMARY KEY (x, y));
     CREATE TABLE odd.refers (p int, q int, note text DEFAULT 'none', FOREIGN KEY (p, q) REFERENCES odd."a ""b" (x, y));
     COMMENT ON COLUMN odd.refers.note IS 'what was said'; CREATE INDEX ON odd.refers (note)`,
  );
  server = await talk(["--url", world.url]);
});
afterAll(async () => {
  await server?.close();
  await world?.dispose();
});

it("describes all tables in one call, finds columns by name, and continues at a cursor", async () => {
  const { tables } = await server.data("pg_describe_tables", {});
  expect(tables).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        table: "orders",
        type: "table",
        columns: expect.arrayContaining([
          expect.stringMatching(/^customer_id integer.*→ customers\.id$/),
        ]),
      }),
      {
        table: 'odd."a ""b"',
        type: "table",
        columns: ["x integer primary key", "y integer primary key"],
      },
      {
        table: "odd.refers",
        type: "table",
        columns: ['p integer → odd."a ""b".x', 'q integer → odd."a ""b".y', "note text"],
      },
    ]),
  );
  expect(await server.data("pg_describe_tables", { match: "REFER", detail: "full" })).toMatchObject(
    {
      tables: [
        {
          columns: [{}, {}, { name: "note", default: "'none'::text", comment: "what was said" }],
          indexes: [
            { definition: "CREATE INDEX refers_note_idx ON odd.refers USING btree (note)" },
          ],
        },
      ],
    },
  );
  expect(await server.data("pg_describe_tables", { column: "NOT", schema: "odd" })).toEqual({
    tables: [{ table: "odd.refers", type: "table", columns: ["note text"] }],
  });
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const page = await server.data("pg_describe_tables", {
      limit: 1,
      ...(cursor === undefined ? {} : { cursor }),
    });
    seen.push(...Object(page).tables);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(seen).toEqual(tables);
});

import { expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

const TABLES = isLong ? 10_000 : 2_000;
const LAST = `t${TABLES - 1}`;

it(`lists, describes and completes ${TABLES} tables in complete pages`, async () => {
  const tables = Array.from(
    { length: TABLES },
    (_, at) =>
      `CREATE TABLE t${at} (id INTEGER PRIMARY KEY, parent INT REFERENCES t${Math.max(0, at - 1)} (id));`,
  );
  const world = await lab({
    sql: `BEGIN; ${tables.join("")} COMMIT; CREATE INDEX found ON t77 (parent);`,
  });
  const { data, call, connected, close } = await talk(["--db-path", world.file]);
  try {
    const names = new Set<unknown>();
    let cursor: unknown;
    let count = 0;
    do {
      const page = await data("describe_tables", {
        detail: "names",
        limit: 1_000,
        ...(cursor !== undefined && { cursor }),
      });
      const { main }: { main: { table: string[] } } = Object(page["names"]);
      for (const name of main.table) names.add(name);
      count += main.table.length;
      cursor = page["next_cursor"];
    } while (cursor !== undefined);
    // With users and orders.
    expect([count, names.size]).toEqual([TABLES + 2, TABLES + 2]);
    const { tables: described } = await data("describe_tables", { match: LAST });
    expect(described).toEqual([
      {
        table: LAST,
        type: "table",
        columns: ["id INTEGER primary key", `parent INT → t${TABLES - 2}.id`],
      },
    ]);
    const near = await call("read_query", { query: `SELECT * FROM ${LAST}9` });
    expect(near.text).toContain(`Did you mean ${LAST}`);
    // The client reads all pages, up to 64.
    const { resources } = await connected.client.listResources();
    const uris = new Set(resources.map(({ uri }) => uri));
    expect([...uris].filter((uri) => uri.startsWith("schema://t"))).toHaveLength(TABLES);
    const { completion } = await connected.client.complete({
      ref: { type: "ref/resource", uri: "schema://{table}" },
      argument: { name: "table", value: `t${TABLES / 10 - 1}` },
    });
    expect(completion.values).toHaveLength(11);
  } finally {
    await close();
    await world.dispose();
  }
});

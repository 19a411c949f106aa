import { expect, it } from "vitest";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

const TABLES = 3_000;

it("lists, describes and completes 3,000 tables in complete pages", async () => {
  const world = await lab();
  // In several transactions: one would need more locks than a server has.
  for (let at = 0; at < TABLES; at += 1_000)
    await world.admin(
      `DO $$ BEGIN FOR i IN ${at}..${at + 999} LOOP EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, parent int REFERENCES t%s)', i, greatest(0, i - 1)); END LOOP; END $$`,
    );
  const { data, call, connected, close } = await talk(["--url", world.url]);
  try {
    const names: unknown[] = [];
    let cursor: unknown;
    do {
      const { tables, next_cursor } = Object(
        await data("pg_describe_tables", { limit: 1_000, ...(cursor !== undefined && { cursor }) }),
      );
      names.push(...tables.map(({ table }: { table: string }) => table));
      cursor = next_cursor;
    } while (cursor !== undefined);
    expect([names.length, new Set(names).size]).toEqual([TABLES, TABLES]);
    expect((await call("query", { sql: "SELECT * FROM t22222" })).text).toMatch(
      /Did you mean t2222/,
    );
    // The client reads all pages, up to 64.
    const { resources } = await connected.client.listResources();
    const uris = new Set(resources.map(({ uri }) => uri));
    expect([...uris].filter((uri) => uri.startsWith("schema://t"))).toHaveLength(TABLES);
    const { completion } = await connected.client.complete({
      ref: { type: "ref/resource", uri: "schema://{table}" },
      argument: { name: "table", value: "t299" },
    });
    expect(completion.values).toHaveLength(11);
  } finally {
    await close();
    await world.dispose();
  }
}, 600_000);

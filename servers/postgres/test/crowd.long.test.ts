import { expect, it } from "vitest";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

const TABLES = 10_000;

it("lists, describes and completes 10,000 tables in complete pages", async () => {
  const world = await lab();
  // In several transactions: one would need more locks than a server has.
  for (let at = 0; at < TABLES; at += 1_000)
    await world.admin(
      `DO $$ BEGIN FOR i IN ${at}..${at + 999} LOOP EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, parent int REFERENCES t%s)', i, greatest(0, i - 1)); END LOOP; END $$`,
    );
  const { data, call, connected, close } = await talk(["--url", world.url]);
  try {
    for (const [tool, list, name] of [["pg_describe_tables", "tables", "table"]] as const) {
      const names = new Set<unknown>();
      let count = 0;
      let cursor: unknown;
      do {
        const page = await data(tool, { limit: 1_000, ...(cursor !== undefined && { cursor }) });
        const items = page[list];
        if (!Array.isArray(items)) throw new Error("no list");
        for (const item of items) names.add(item[name]);
        count += items.length;
        cursor = page["next_cursor"];
      } while (cursor !== undefined);
      expect([tool, count, names.size]).toEqual([tool, TABLES, TABLES]);
    }
    expect((await call("query", { sql: "SELECT * FROM t77777" })).text).toMatch(
      /Did you mean t7777/,
    );
    // The client reads all pages, up to 64.
    const { resources } = await connected.client.listResources();
    const uris = new Set(resources.map(({ uri }) => uri));
    expect([...uris].filter((uri) => uri.startsWith("schema://t"))).toHaveLength(TABLES);
    const { completion } = await connected.client.complete({
      ref: { type: "ref/resource", uri: "schema://{table}" },
      argument: { name: "table", value: "t999" },
    });
    expect(completion.values).toHaveLength(11);
  } finally {
    await close();
    await world.dispose();
  }
}, 600_000);

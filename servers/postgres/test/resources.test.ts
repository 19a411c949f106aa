import type { Era } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { labFor, talk } from "./session.ts";

const world = labFor(
  `CREATE TABLE users (id int PRIMARY KEY, name text); CREATE SCHEMA sales; CREATE TABLE sales.orders (x numeric(8,2)); CREATE TABLE "ü/ %" (a int);
   DO $$ BEGIN FOR n IN 0..119 LOOP EXECUTE format('CREATE TABLE sales.t%s (x int)', lpad(n::text, 3, '0')); END LOOP; END $$`,
);

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("resources, %s era", (era) => {
  it("list every table in pages, and each can be read", async () => {
    const { connected, close } = await talk(["--url", world.url], { era });
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await connected.client.listResources(cursor === undefined ? {} : { cursor });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(uris).size).toBe(123);
    expect(uris).toContain("schema://%22%C3%BC%2F%20%25%22");
    for (const uri of [
      "schema://users",
      "schema://%22%C3%BC%2F%20%25%22",
      "schema://sales.orders",
    ]) {
      const [part] = (await connected.client.readResource({ uri })).contents;
      expect(JSON.parse(part !== undefined && "text" in part ? part.text : "")).toHaveProperty(
        "columns",
      );
    }
    await expect(connected.client.readResource({ uri: "schema://userz" })).rejects.toMatchObject({
      message: expect.stringMatching(/Did you mean users/),
    });
    await close();
  });

  it("are rows by their primary key, with completion of it", async () => {
    await world.admin(
      `CREATE TABLE IF NOT EXISTS "a/b" ("k,1" text PRIMARY KEY, v text);
       CREATE TABLE IF NOT EXISTS pairs (a int, b int, PRIMARY KEY (a, b));
       INSERT INTO "a/b" VALUES ('x,"/%', 'here'), ('y', 'there') ON CONFLICT DO NOTHING;
       INSERT INTO users VALUES (7, 'Ada'), (71, 'Mary') ON CONFLICT DO NOTHING`,
    );
    const { connected, close } = await talk(["--url", world.url], { era });
    const row = async (...parts: string[]) => {
      const uri = `rows://${parts.map(encodeURIComponent).join("/")}`;
      const [part] = (await connected.client.readResource({ uri })).contents;
      return JSON.parse(part !== undefined && "text" in part ? part.text : "");
    };
    expect(await row("users", "7")).toMatchObject({ rows: [[7, "Ada"]], row_count: 1 });
    expect(await row("a/b", 'x,"/%')).toMatchObject({ rows: [['x,"/%', "here"]] });
    await expect(row("users", "8")).rejects.toThrow(/has no row "8"/);
    await expect(row("users", "1 OR true")).rejects.toThrow(
      /invalid input syntax for type integer/,
    );
    await expect(row("pairs", "1")).rejects.toThrow(/no primary key of one column/);
    await expect(row("sales.orders", "1")).rejects.toThrow(/no primary key/);
    const complete = async (table: string, value: string) =>
      (
        await connected.client.complete({
          ref: { type: "ref/resource", uri: "rows://{table}/{key}" },
          argument: { name: "key", value },
          context: { arguments: { table } },
        })
      ).completion.values;
    expect(await complete("users", "7")).toEqual(["7", "71"]);
    expect(await complete("a/b", "y")).toEqual(["y"]);
    expect(await complete("pairs", "1")).toEqual([]);
    await world.admin('DROP TABLE "a/b", pairs; DELETE FROM users');
    await close();
  });
});

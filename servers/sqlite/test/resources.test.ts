import type { Era } from "@refmcp/testing";
import { expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { enter } from "./lab.ts";
import { talk } from "./session.ts";

const ODD = 'a/b"; DROP TABLE users\n--';

it.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])(
  "a table and a row by its key are resources, with any characters in their names, %s era",
  async (era) => {
    const { file } = await enter({
      sql: `CREATE TABLE "a/b""; DROP TABLE users\n--" ("k,1" TEXT PRIMARY KEY, v); INSERT INTO "a/b""; DROP TABLE users\n--" VALUES ('x,"/%', 'here'), ('y', 1);
        CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)); CREATE TABLE plain (x);`,
    });
    const { connected, close } = await talk(["--db-path", file], { era });
    const read = async (kind: string, ...parts: string[]) => {
      const uri = `${kind}://${parts.map(encodeURIComponent).join("/")}`;
      const [part] = (await connected.client.readResource({ uri })).contents;
      return JSON.parse(part !== undefined && "text" in part ? part.text : "");
    };
    expect(await read("rows", "users", "1")).toMatchObject({ rows: [[1, "Ada", "London"]] });
    expect(await read("rows", ODD, 'x,"/%')).toMatchObject({ rows: [['x,"/%', "here"]] });
    expect(await read("schema", "Orders")).toMatchObject({ table: "orders" });
    for (const [table, key, why] of [
      ["users", "8", /has no row "8"/],
      ["users", "1 OR true", /has no row/],
      ["plain", "1", /no primary key of one column/],
      ["pairs", "1", /no primary key of one column/],
      ["user", "1", /Did you mean users/],
    ] as const)
      await expect(read("rows", table, key), key).rejects.toThrow(why);
    const complete = async (table: string, value: string) =>
      (
        await connected.client.complete({
          ref: { type: "ref/resource", uri: "rows://{table}/{key}" },
          argument: { name: "key", value },
          context: { arguments: { table } },
        })
      ).completion.values;
    expect(await complete(ODD, "y")).toEqual(["y"]);
    expect(await complete("pairs", "1")).toEqual([]);
    await close();
  },
);

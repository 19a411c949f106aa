import type { Connected, ConnectOptions, Era } from "@refmcp/testing";
import { connectInMemory } from "@refmcp/testing";
import { afterEach, describe, expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { type Lab, lab } from "../../test/lab.ts";
import { server } from "../server.ts";

const open: { dispose(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.dispose();
});

async function enter(
  sql: string,
  options: Omit<ConnectOptions, "args"> = {},
  more: readonly string[] = [],
) {
  const here: Lab = await lab({ sql });
  open.push(here);
  const args = ["--db-path", here.file, "--root", here.folder, ...more];
  const connected = await connectInMemory(server, { ...options, args });
  open.push({ dispose: () => connected.close() });
  return { ...connected, here };
}

async function read({ client }: Pick<Connected, "client">, uri: string) {
  const [content] = (await client.readResource({ uri })).contents;
  if (content === undefined) throw new Error("no content");
  return content;
}
const json = (content: Awaited<ReturnType<typeof read>>) =>
  JSON.parse("text" in content ? content.text : "null");

describe("a list", () => {
  it("has every table of every named database once, in pages", async () => {
    const names = Array.from({ length: 450 }, (_, index) => `t${String(index).padStart(3, "0")}`);
    const other = await lab();
    open.push(other);
    const { client } = await enter(
      names.map((name) => `CREATE TABLE ${name} (x);`).join("\n"),
      {},
      ["--db", `other=${other.file}`],
    );
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      listed.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const expected = [...names, "users", "orders"].map((name) => `schema://main/${name}`);
    expected.push("schema://other/orders", "schema://other/users");
    expect(listed.sort()).toEqual(expected.sort());
  });
});

describe("reading", () => {
  it("returns a table's first rows, also for names with any characters", async () => {
    const connected = await enter(
      `CREATE TABLE "a/b ""c" (x); INSERT INTO "a/b ""c" VALUES ('here');`,
    );
    expect(
      json(await read(connected, `rows://main/${encodeURIComponent('a/b "c')}`)),
    ).toMatchObject({
      rows: [["here"]],
      truncated: false,
    });
    await expect(read(connected, "rows://main/user")).rejects.toThrow(/Did you mean users/);
    expect(json(await read(connected, "schema://main/Orders"))).toMatchObject({
      table: "orders",
      row_count: 3,
    });
  });
});

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("%s era", (era) => {
  it("completes databases and tables", async () => {
    const { client } = await enter('CREATE TABLE "user list" (name, nick);', { era });
    const complete = async (
      uri: string,
      name: string,
      value: string,
      given: Record<string, string> = {},
    ) =>
      (
        await client.complete({
          ref: { type: "ref/resource", uri },
          argument: { name, value },
          context: { arguments: given },
        })
      ).completion.values;
    for (const uri of ["schema://{database}/{table}", "rows://{database}/{table}"]) {
      expect(await complete(uri, "database", "M")).toEqual(["main"]);
      expect(await complete(uri, "table", "USER", { database: "main" })).toEqual([
        "user list",
        "users",
      ]);
    }
  });
});

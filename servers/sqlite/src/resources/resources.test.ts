import type { Connected, ConnectOptions, Era } from "@refmcp/testing";
import { connectInMemory } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import { isLong, itLong } from "../../../../vitest.long.ts";
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

describe("a list without tables", () => {
  it("says why, in an entry that can be read", async () => {
    const { client } = await enter("DROP TABLE orders; DROP TABLE users;", {}, [
      "--db",
      "gone=/nowhere/gone.db",
    ]);
    const { resources } = await client.listResources();
    expect(resources.slice(1)).toMatchObject([
      { uri: "status://main", title: expect.stringContaining("The database has no tables") },
      { uri: "status://gone", title: expect.stringMatching(/gone\.db does not exist/) },
    ]);
    for (const { uri, description } of resources.slice(1))
      expect(await read({ client }, uri)).toMatchObject({ text: description });
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

  it("returns a complete large blob for the URI in the answer", async () => {
    const connected =
      await enter(`CREATE TABLE pictures (id INTEGER PRIMARY KEY, "the file" BLOB, note TEXT);
      INSERT INTO pictures VALUES (7, x'89504e470d0a1a0a' || zeroblob(5000), 'long ' || hex(zeroblob(9000)));
      UPDATE pictures SET "the file" = CAST("the file" AS BLOB);
      CREATE TABLE keyed (k TEXT PRIMARY KEY, b BLOB) WITHOUT ROWID; INSERT INTO keyed VALUES ('x', zeroblob(2000));`);
    const query = async (sql: string) => {
      const result = await connected.client.callTool({
        name: "read_query",
        arguments: { query: sql },
      });
      return JSON.stringify(result.structuredContent);
    };
    const uri = "blob://main/pictures/the%20file/7";
    expect(await query('SELECT id, "the file" FROM pictures')).toContain(
      `[7,{"$blob":5008,"uri":"${uri}"}]`,
    );
    expect(await query("SELECT rowid, * FROM pictures")).toContain(uri);
    // From another row, from no row, or without its key: no URI rather than a wrong one.
    for (const sql of [
      'SELECT a.id + 0, b."the file" FROM pictures a, pictures b',
      "SELECT max(id), CAST(\"the file\" || x'00' AS BLOB) FROM pictures",
      "SELECT * FROM keyed",
    ])
      expect(await query(sql)).not.toContain('"uri"');
    const content = await read(connected, uri);
    expect(content.mimeType).toBe("image/png");
    expect("blob" in content ? Buffer.from(content.blob, "base64").length : 0).toBe(5008);
    const text = await read(connected, "blob://main/pictures/note/7");
    expect("text" in text ? text.text.length : 0).toBe(18_005);
  });

  it("returns no URI of another row for a self-join", async () => {
    const connected = await enter(`CREATE TABLE p (id INTEGER PRIMARY KEY, b BLOB);
      INSERT INTO p VALUES (1, randomblob(2000)), (2, randomblob(2000));`);
    const result = await connected.client.callTool({
      name: "read_query",
      arguments: { query: "SELECT x.id, y.b FROM p x, p y WHERE x.id <> y.id" },
    });
    expect(JSON.stringify(result.structuredContent)).not.toContain('"uri"');
  });

  it("counts the URIs of blobs towards the answer's size", async () => {
    const connected =
      await enter(`CREATE TABLE many_of_them (id INTEGER PRIMARY KEY, a_column_of_bytes BLOB);
      INSERT INTO many_of_them (a_column_of_bytes) WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2000) SELECT zeroblob(1100) FROM t;`);
    const given = { query: "SELECT * FROM many_of_them", max_rows: 10_000 };
    const { structuredContent } = await connected.client.callTool({
      name: "read_query",
      arguments: given,
    });
    expect(JSON.stringify(structuredContent)).toContain(
      "blob://main/many_of_them/a_column_of_bytes/150",
    );
    expect(JSON.stringify(structuredContent).length).toBeLessThan(20_000);
  });

  it("explains an invalid sentence", async () => {
    const connected = await enter(`CREATE TABLE big (id INTEGER PRIMARY KEY, b BLOB, n);
      INSERT INTO big VALUES (1, zeroblob(9000000), 5);`);
    for (const [uri, message] of [
      ["blob://main/big/b/1", /9,000,000 bytes; the limit is 8,388,608/],
      ["blob://main/big/b/2", /has no row 2/],
      ["blob://main/big/b/1;DROP", /not a rowid/],
      ["blob://main/big/c/1", /No column c/],
      ["blob://main/bug/b/1", /Did you mean big/],
      ["blob://main/big/n/1", /INTEGER, neither a blob/],
      ["blob://..%2F..%2Fetc%2Fpasswd/big/b/1", /./],
      ["blob://other/big/b/1", /No database other/],
    ] as const)
      await expect(read(connected, uri), uri).rejects.toThrow(message);
  });
});

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("%s era", (era) => {
  it("completes databases, tables and columns", async () => {
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
    const blob = "blob://{database}/{table}/{column}/{rowid}";
    expect(await complete(blob, "column", "n", { database: "main", table: "user list" })).toEqual([
      "name",
      "nick",
    ]);
  });

  itLong("notifies subscribers of another process's commits and of new insights", async () => {
    const { client, here } = await enter("", { era });
    const updated: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updated.push(params.uri);
    });
    const uris = ["memo://insights", "rows://main/users", "schema://main/orders"];
    if (era === "legacy") for (const uri of uris) await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: uris });
    // In revision 2026-07-28 the subscription can be active before the watch is.
    const writer = new Sqlite(here.file);
    await expect
      .poll(
        () => {
          writer.exec("INSERT INTO users (name) VALUES ('Otto')");
          return [...new Set(updated)].sort();
        },
        { interval: 500 },
      )
      .toEqual(uris.slice(1));
    writer.close();
    await client.callTool({ name: "append_insight", arguments: { insight: "Otto is many." } });
    await expect.poll(() => updated).toContain(uris[0]);
  });
});

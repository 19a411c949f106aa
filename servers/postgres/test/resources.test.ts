import { expect, it } from "vitest";
import { labFor, talkFor } from "./session.ts";

// The rest of the resources is proved with SQLite.
const world = labFor(
  `CREATE TABLE users (id int PRIMARY KEY, name text); CREATE SCHEMA sales; CREATE TABLE sales."ü/ %" (a int);
   CREATE TABLE "a/b" ("k,1" text PRIMARY KEY, v text); CREATE TABLE pairs (a int, b int, PRIMARY KEY (a, b));
   INSERT INTO "a/b" VALUES ('x,"/%', 'here'), ('y', 'there'); INSERT INTO users VALUES (7, 'Ada'), (71, 'Mary')`,
);
const server = talkFor(() => ["--url", world.url]);

it("tables and rows are resources, for all schemas, names and types of keys", async () => {
  const { client } = server.connected;
  const uris = (await client.listResources()).resources.map(({ uri }) => uri);
  expect(uris).toContain("schema://sales.%22%C3%BC%2F%20%25%22");
  expect(uris).toHaveLength(4);
  const read = async (uri: string) => {
    const [part] = (await client.readResource({ uri })).contents;
    return JSON.parse(part !== undefined && "text" in part ? part.text : "");
  };
  for (const uri of uris) expect(await read(uri)).toHaveProperty("columns");
  const row = (...parts: string[]) => read(`rows://${parts.map(encodeURIComponent).join("/")}`);
  expect(await row("users", "7")).toMatchObject({ rows: [[7, "Ada"]] });
  expect(await row("a/b", 'x,"/%')).toMatchObject({ rows: [['x,"/%', "here"]] });
  await expect(row("users", "1 OR true")).rejects.toThrow(/invalid input syntax for type integer/);
  await expect(row("pairs", "1")).rejects.toThrow(/no primary key of one column/);
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "rows://{table}/{key}" },
    argument: { name: "key", value: "7" },
    context: { arguments: { table: "users" } },
  });
  expect(completion.values).toEqual(["7", "71"]);
});

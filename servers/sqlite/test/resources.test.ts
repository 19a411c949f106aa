import type { Connected, ConnectOptions } from "@refmcp/testing";
import { connectInMemory } from "@refmcp/testing";
import { afterEach, expect, it } from "vitest";
import { server } from "../src/server.ts";
import { type Lab, lab } from "./lab.ts";

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

it("a row is read by its key, also of tables with any characters in their names", async () => {
  const connected = await enter(
    `CREATE TABLE "a/b ""c" (k TEXT PRIMARY KEY, v); INSERT INTO "a/b ""c" VALUES ('x,"/%', 'here');
     CREATE TABLE plain (x); INSERT INTO plain VALUES (1);`,
  );
  const row = async (...parts: string[]) =>
    json(await read(connected, `rows://${parts.map(encodeURIComponent).join("/")}`));
  expect(await row("users", "1")).toMatchObject({ rows: [[1, "Ada", "London"]], row_count: 1 });
  expect(await row('a/b "c', 'x,"/%')).toMatchObject({ rows: [['x,"/%', "here"]] });
  await expect(row("users", "8")).rejects.toThrow(/8/);
  await expect(row("users", "1 OR true")).rejects.toThrow();
  await expect(row("plain", "1")).rejects.toThrow(/key/);
  await expect(row("user", "1")).rejects.toThrow(/Did you mean users/);
  expect(json(await read(connected, "schema://Orders"))).toMatchObject({
    table: "orders",
    referenced_by: [],
  });
});

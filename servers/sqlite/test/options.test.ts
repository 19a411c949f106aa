import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectStdio } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";

it("the server opens a database file given without a flag", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-args-"));
  new Sqlite(join(folder, "x.db")).exec("CREATE TABLE t (x)").close();
  const server = await connectStdio(fileURLToPath(new URL("../dist/bin.js", import.meta.url)), {
    args: [join(folder, "x.db")],
  });
  const { content } = await server.client.callTool({ name: "list_tables", arguments: {} });
  expect(JSON.stringify(content)).toContain('\\"t\\"');
  await server.close();
  await rm(folder, { recursive: true });
});

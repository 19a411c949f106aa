import { writeFile } from "node:fs/promises";
import { connectInMemory } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { server } from "../src/server.ts";
import { world } from "./fixture.ts";

let here: Awaited<ReturnType<typeof world>>;
beforeEach(async () => {
  here = await world();
});
afterEach(() => here.dispose());

/** Calls a tool as the fixture does, but for some arguments. */
async function call(name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { client, close } = await connectInMemory(server, { args: here.args });
  try {
    return JSON.stringify(
      await client.callTool({ name, arguments: { ...here.calls[name], ...args } }),
    );
  } finally {
    await close();
  }
}

// Every text that a tool takes, also of those that you add.
const texts = server.tools.flatMap(({ name, input }) =>
  Object.keys(input.shape).map((argument) => [name, argument] as const),
);

it.each(texts)("%s takes no SQL as %s", async (name, argument) => {
  const before = await here.fingerprint();
  for (const attack of ["'; DELETE FROM notes; --", "x' OR '1'='1", "\0"]) {
    const text = await call(name, { [argument]: attack });
    expect(text).not.toMatch(/internal error|syntax error/);
    expect(text).not.toContain("Ada brings");
  }
  expect(await here.fingerprint()).toBe(before);
});

it("does not run a view in place of the table", async () => {
  const database = new Sqlite(here.file);
  database.exec(
    "DROP TABLE notes; CREATE VIEW notes AS SELECT 1 AS id, 'tea of a stranger' AS text",
  );
  database.close();
  expect(await call("sample_find")).toContain("has no table notes");
});

it("explains what is wrong with a file that is not a database", async () => {
  await writeFile(here.file, "not a database, but long enough to be looked at".repeat(100));
  expect(await call("sample_find")).toMatch(/isn't a database|not a database/);
});

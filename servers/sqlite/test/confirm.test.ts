import type { Era } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { change, rowsOf } from "./asking.ts";
import { enter } from "./lab.ts";
import { talk } from "./session.ts";

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("a loss, %s era", (era) => {
  it("happens exactly as confirmed, without a lock while the user decides", async () => {
    const here = await enter();
    const asked: string[] = [];
    const server = await talk(["--db-path", here.file, "--allow-write", "--no-undo"], {
      era,
      elicit: async ({ message }) => {
        asked.push(message);
        await change(here, "UPDATE users SET city = 'Bath' WHERE id = 1");
        return { action: "accept", content: { confirm: true } };
      },
    });
    expect(await server.data("execute", { statements: "DELETE FROM orders" })).toMatchObject({
      committed: true,
      results: [{ command: "DELETE", row_count: 3 }],
    });
    expect(asked).toHaveLength(1);
    expect(await rowsOf(here, "SELECT count(*) FROM orders")).toEqual([[0]]);
    await server.close();
  });
});

it("writing tools exist only with their options", async () => {
  const here = await enter();
  const names = async (...more: string[]) => {
    const server = await talk(["--db-path", here.file, ...more]);
    const { tools } = await server.connected.client.listTools();
    const hidden = await server
      .call("execute", { statements: "DELETE FROM users WHERE id = 1" })
      .catch(() => undefined);
    await server.close();
    const writing = ["execute", "import_csv", "list_database_changes", "undo_database_change"];
    const names = tools.map(({ name }) => name).filter((name) => writing.includes(name));
    if (!names.includes("execute")) expect(hidden?.isError ?? true).toBe(true);
    return names.sort();
  };
  expect(await names()).toEqual([]);
  expect(await names("--read-only", "--allow-write", "--allow-ddl")).toEqual([
    "list_database_changes",
  ]);
  expect(await names("--allow-ddl")).toEqual([]);
  expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[3]]);
  expect(await names("--allow-write")).toEqual([
    "execute",
    "import_csv",
    "list_database_changes",
    "undo_database_change",
  ]);
});

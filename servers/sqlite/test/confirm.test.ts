import { beforeEach, expect, it } from "vitest";
import { ask, labs } from "./asking.ts";
import type { Lab } from "./lab.ts";
import { talk } from "./session.ts";

const enter = labs();
let here: Lab;
beforeEach(async () => {
  here = await enter({ allowDdl: true });
});

it("writing tools exist only with their options", async () => {
  const names = async (...more: string[]) => {
    const server = await talk(["--db-path", here.file, ...more]);
    const { tools } = await server.connected.client.listTools();
    const hidden = await server
      .call("execute", { statements: "DELETE FROM users WHERE id = 1" })
      .catch(() => undefined);
    await server.close();
    const writing = ["execute", "import_csv", "list_database_changes", "undo_database_change"];
    const found = tools.map(({ name }) => name).filter((name) => writing.includes(name));
    if (!found.includes("execute")) expect(hidden?.isError ?? true).toBe(true);
    return found.sort();
  };
  expect(await names()).toEqual([]);
  expect(await names("--read-only", "--allow-write", "--allow-ddl")).toEqual([
    "list_database_changes",
  ]);
  expect(await names("--allow-ddl")).toEqual([]);
  expect((await ask(here, "SELECT count(*) FROM users")).rows).toEqual([[3]]);
  expect(await names("--allow-write")).toEqual([
    "execute",
    "import_csv",
    "list_database_changes",
    "undo_database_change",
  ]);
});

import type { Era } from "@refmcp/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { ask, change, labs } from "./asking.ts";
import type { Lab } from "./lab.ts";
import { talk } from "./session.ts";

const enter = labs();
let here: Lab;
let args: readonly string[];
beforeEach(async () => {
  here = await enter({ allowDdl: true });
  args = ["--db-path", here.file, "--allow-write", "--allow-ddl", "--no-undo"];
});
const orders = async () => (await ask(here, "SELECT count(*), sum(total) FROM orders")).rows;
const FULL = [[3, 37.75]];
const LOSSES: readonly (readonly [tool: string, given: Record<string, unknown>, loss: RegExp])[] = [
  ["execute", { statements: "DELETE FROM orders" }, /DELETE of 3 rows of orders/],
  ["execute", { statements: "UPDATE orders SET total = 0" }, /UPDATE of 3 rows of orders/],
  ["execute", { statements: "DROP TABLE orders" }, /DROP TABLE orders \(3 rows\)/],
  [
    "execute",
    {
      statements: [
        { sql: "DELETE FROM orders WHERE id > ?", params: [0] },
        "DROP INDEX orders_user",
      ],
    },
    /DELETE of 3 rows of orders/,
  ],
];

describe.each<Era>(isLong ? ["legacy", "modern"] : ["modern"])("a loss, %s era", (era) => {
  it("is refused if nobody can be asked, naming the loss and the option; nothing is changed", async () => {
    const server = await talk(args, { era });
    for (const [tool, given, loss] of LOSSES) {
      const { text, isError } = await server.call(tool, given);
      expect(isError).toBe(true);
      expect(text).toMatch(
        /This needs the user's confirmation.*This cannot be undone: .*--confirm never/s,
      );
      expect(text).toMatch(loss);
      expect(await orders()).toEqual(FULL);
    }
    await server.close();
  });

  it("happens exactly as confirmed, without a lock while the user decides", async () => {
    const asked: string[] = [];
    const server = await talk(args, {
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
    expect(await orders()).toEqual([[0, null]]);
    await server.close();
  });

  it("is asked about again, or is a conflict, if it changed while the user decided", async () => {
    let count = 0;
    const server = await talk(args, {
      era,
      elicit: async () => {
        count += 1;
        if (count === 1) await change(here, "INSERT INTO orders VALUES (9, 1, 1)");
        return { action: count === 1 ? "accept" : "decline", content: { confirm: true } };
      },
    });
    expect((await server.call("execute", { statements: "DELETE FROM orders" })).isError).toBe(true);
    expect(await orders()).toEqual([[4, 38.75]]);
    await server.close();
  });
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

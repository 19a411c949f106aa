import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importCsv } from "@refmcp/sql";
import { expect, it } from "vitest";
import { rowsOf, undo } from "./asking.ts";
import { enter, type Lab } from "./lab.ts";

const input = { path: "more.csv", table: "users", delimiter: ",", dryRun: false };
const added = (here: Pick<Lab, "databases">) =>
  rowsOf(here, "SELECT id, name, city FROM users WHERE id > 3 ORDER BY id");

it("adds all rows, empty fields as NULL, columns in any order and case", async () => {
  const { databases, folder, call } = await enter();
  await writeFile(
    join(folder, "more.csv"),
    '\ufeffCITY,name,id\nTurin,"Lu\nigi",4\n"",Anna,5\n,Otto,6\n',
  );
  expect(await importCsv(databases, { ...input, dryRun: true }, call)).toMatchObject({
    rows: 3,
    committed: false,
  });
  expect(await added({ databases })).toEqual([]);
  expect(await importCsv(databases, input, call)).toMatchObject({
    table: "users",
    columns: ["city", "name", "id"],
    rows: 3,
    committed: true,
  });
  expect(await added({ databases })).toEqual([
    [4, "Lu\nigi", "Turin"],
    [5, "Anna", ""],
    [6, "Otto", null],
  ]);
});

it("adds nothing if one row is refused, and names its line", async () => {
  const { databases, folder, call } = await enter();
  const failing: readonly [string, string | RegExp][] = [
    ["id,name\n4,Luigi\n1,Taken\n", /^Line 3: UNIQUE constraint failed/],
    ["id,name\n4,Luigi\n5\n", /line 3/],
    ["id,nam\n4,Luigi\n", /Did you mean name/],
    ["id,ID\n4,4\n", /twice/],
    ["", /empty/],
  ];
  for (const [text, message] of failing) {
    await writeFile(join(folder, "more.csv"), text);
    await expect(importCsv(databases, input, call)).rejects.toThrow(message);
  }
  expect(await added({ databases })).toEqual([]);
  await expect(importCsv(databases, { ...input, table: "user" }, call)).rejects.toThrow(/users/);
  const outside = importCsv(databases, { ...input, path: "/etc/passwd" }, call);
  await expect(outside).rejects.toMatchObject({ kind: "denied" });
});

it("replaces nothing, even if the table's constraint would", async () => {
  const { databases, folder, call } = await enter({
    sql: "CREATE TABLE k (a UNIQUE ON CONFLICT REPLACE, b); INSERT INTO k VALUES ('x', 'old')",
  });
  await writeFile(join(folder, "more.csv"), "a,b\nx,new\n");
  const replacing = importCsv(databases, { ...input, table: "k" }, call);
  await expect(replacing).rejects.toMatchObject({ kind: "conflict" });
  expect(await rowsOf({ databases }, "SELECT * FROM k")).toEqual([["x", "old"]]);
});

it("is undone with what triggers of the table did, and asks without a record", async () => {
  const purge = "CREATE TRIGGER purge AFTER INSERT ON users BEGIN DELETE FROM orders; END";
  const { databases, folder, call } = await enter({ sql: purge });
  await writeFile(join(folder, "more.csv"), "name\nLuigi\nAnna\n");
  const before = await added({ databases });
  const change_id = (await importCsv(databases, input, call)).change_id;
  expect(call.questions).toEqual([]);
  expect(await rowsOf({ databases }, "SELECT count(*) FROM orders")).toEqual([[0]]);
  await undo({ databases }, change_id);
  expect(await rowsOf({ databases }, "SELECT count(*) FROM orders")).toEqual([[3]]);
  expect(await added({ databases })).toEqual(before);

  const unrecorded = await enter({ sql: purge, undo: false });
  await writeFile(join(unrecorded.folder, "more.csv"), "name\nLuigi\nAnna\n");
  const asking = importCsv(unrecorded.databases, input, unrecorded.call);
  await expect(asking).rejects.toMatchObject({ kind: "denied" });
  expect(unrecorded.call.questions).toEqual([
    "This cannot be undone: DELETE of 3 rows of orders (the record of changes is off (--no-undo)).",
  ]);
  expect(await rowsOf(unrecorded, "SELECT count(*) FROM orders")).toEqual([[3]]);
});

it("leaves nothing of a cancelled import, and the database stays usable", async () => {
  const { databases, folder, call } = await enter();
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index + 10},name ${index}`);
  await writeFile(join(folder, "more.csv"), `id,name\n${lines.join("\n")}\n`);
  let reports = 0;
  const cancelling = {
    ...call,
    progress() {
      reports += 1;
      if (reports === 5) call.cancel();
    },
  };
  const cancelled = importCsv(databases, input, cancelling);
  await expect(cancelled).rejects.toMatchObject({ kind: "cancelled" });
  expect(await added({ databases })).toEqual([]);
});

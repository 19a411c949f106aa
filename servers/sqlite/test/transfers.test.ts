import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportRows, importCsv } from "@refmcp/sql";
import { smallDisk } from "@refmcp/sql/testing";
import { describe, expect, it } from "vitest";
import { rowsOf, undo } from "./asking.ts";
import { enter, type Lab } from "./lab.ts";

const input = { path: "more.csv", table: "users", delimiter: ",", dryRun: false };
const output = (path: string, sql: string) => ({ sql, params: [], path });
const added = (here: Pick<Lab, "databases">) =>
  rowsOf(here, "SELECT id, name, city FROM users WHERE id > 3 ORDER BY id");
const fill = (folder: string, records: number) =>
  writeFile(
    join(folder, "more.csv"),
    `id,name,city\n${Array.from({ length: records }, (_, at) => `${at + 10},"name ""${at}""",\n`).join("")}`,
  );

describe("an import", () => {
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
});

describe("an export", () => {
  it("writes all rows, values exactly, and links to the file", async () => {
    const { databases, folder, call } = await enter();
    const values =
      "SELECT 9007199254740993 AS big, NULL AS n, '' AS e, 'a,\"b\"' AS t, x'00ff' AS b, 9e999 AS i";
    const answer = await exportRows(databases, output("all.csv", values), call);
    expect(answer).toMatchObject({ rows: 1, path: join(folder, "all.csv") });
    expect(await readFile(join(folder, "all.csv"), "utf8")).toBe(
      'big,n,e,t,b,i\n9007199254740993,,"","a,""b""",AP8=,9e999\n',
    );
  });

  it("leaves no file if the statement fails, writes or is cancelled", async () => {
    const { databases, folder, call } = await enter();
    const failing = exportRows(databases, output("a.csv", "SELECT * FROM user"), call);
    await expect(failing).rejects.toThrow(/Did you mean users/);
    const deleting = exportRows(databases, output("a.csv", "DELETE FROM users"), call);
    await expect(deleting).rejects.toMatchObject({ kind: "denied" });
    const endless =
      "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t";
    const cancelling = {
      ...call,
      progress(done: number) {
        if (done > 10_000) call.cancel();
      },
    };
    const cancelled = exportRows(databases, output("a.csv", endless), cancelling);
    await expect(cancelled).rejects.toMatchObject({ kind: "cancelled" });
    expect(await readdir(folder)).toEqual(["shop.db"]);
  });

  it("overwrites nothing and follows no symlink", async () => {
    const { databases, folder, file, call } = await enter();
    await symlink(join(folder, "elsewhere.csv"), join(folder, "link.csv"));
    for (const [path, kind] of [
      [file, "conflict"],
      ["link.csv", "conflict"],
      ["/etc/x.csv", "denied"],
    ] as const) {
      const refused = exportRows(databases, output(path, "SELECT 1"), call);
      await expect(refused, path).rejects.toMatchObject({ kind });
    }
    expect((await readdir(folder)).sort()).toEqual(["link.csv", "shop.db"]);
  });
});

describe("a file of many pieces", () => {
  it("is imported and exported with every value, with progress up to its size", async () => {
    const { databases, folder, call } = await enter();
    await fill(folder, 50_000);
    const done = await importCsv(databases, input, call);
    expect(done).toMatchObject({ rows: 50_000, committed: true });
    const [last] = call.reported.slice(-1);
    expect(last).toEqual({ done: done.bytes, total: done.bytes, note: "bytes read" });
    expect(call.reported.length).toBeGreaterThan(10);
    const sql = "SELECT * FROM users WHERE id >= 10 ORDER BY id";
    await exportRows(databases, output("out.csv", sql), call);
    const again = await enter({ sql: "DELETE FROM orders; DELETE FROM users" });
    await copyFile(join(folder, "out.csv"), join(again.folder, "more.csv"));
    await importCsv(again.databases, input, again.call);
    const digest =
      "SELECT count(*), sum(id), sum(name = 'name \"' || (id - 10) || '\"'), count(city) FROM users WHERE id >= 10";
    for (const lab of [{ databases }, again])
      expect(await rowsOf(lab, digest)).toEqual([[50_000, 1_250_475_000, 50_000, 0]]);
  });
});

describe.runIf(process.platform === "linux")("a full disk", () => {
  it("ends an import and leaves nothing of it, and the database stays usable", async (ctx) => {
    const { databases, folder, call, file } = await enter();
    const disk = join(folder, "disk");
    await mkdir(disk);
    await smallDisk(ctx, disk);
    await copyFile(file, join(disk, "small.db"));
    await fill(folder, 50_000);
    const database = join(disk, "small.db");
    await expect(importCsv(databases, { ...input, database }, call)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("no space left"),
    });
    const lab = { databases };
    expect(await rowsOf(lab, "SELECT count(*) FROM users", { database })).toEqual([[3]]);
    expect(await rowsOf(lab, "PRAGMA integrity_check", { database })).toEqual([["ok"]]);
    expect(await readdir(disk)).toEqual(["small.db"]);
  });

  it("ends an export, which leaves no file", async (ctx) => {
    const { databases, folder, call } = await enter();
    const disk = join(folder, "disk");
    await mkdir(disk);
    await smallDisk(ctx, disk);
    const sql =
      "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n, hex(randomblob(50)) FROM t";
    const exporting = exportRows(databases, output("disk/out.csv", sql), call);
    await expect(exporting).rejects.toMatchObject({ kind: "unavailable", code: "enospc" });
    expect(await readdir(disk)).toEqual([]);
  });
});

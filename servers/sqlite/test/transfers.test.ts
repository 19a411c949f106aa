import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exportRows, importCsv } from "@refmcp/sql";
import { smallDisk } from "@refmcp/sql/testing";
import { describe, expect, it } from "vitest";
import { rowsOf } from "./asking.ts";
import { enter } from "./lab.ts";

const given = { path: "in.csv", delimiter: ",", dryRun: false };
const fill = (folder: string, records: number) =>
  writeFile(
    join(folder, "in.csv"),
    `id,name,city\n${Array.from({ length: records }, (_, at) => `${at + 10},"name ""${at}""",\n`).join("")}`,
  );

describe("a file of many pieces", () => {
  it("is imported and exported with every value, with progress up to its size", async () => {
    const { databases, folder, call } = await enter();
    await fill(folder, 50_000);
    const done = await importCsv(databases, { ...given, table: "users" }, call);
    expect(done).toMatchObject({ rows: 50_000, committed: true });
    const [last] = call.reported.slice(-1);
    expect(last).toEqual({ done: done.bytes, total: done.bytes, note: "bytes read" });
    expect(call.reported.length).toBeGreaterThan(10);
    const sql = "SELECT * FROM users WHERE id >= 10 ORDER BY id";
    await exportRows(databases, { sql, params: [], path: "out.csv" }, call);
    const again = await enter({ sql: "DELETE FROM orders; DELETE FROM users" });
    await copyFile(join(folder, "out.csv"), join(again.folder, "in.csv"));
    await importCsv(again.databases, { ...given, table: "users" }, again.call);
    const digest =
      "SELECT count(*), sum(id), sum(name = 'name \"' || (id - 10) || '\"'), count(city) FROM users WHERE id >= 10";
    for (const one of [{ databases }, again])
      expect(await rowsOf(one, digest)).toEqual([[50_000, 1_250_475_000, 50_000, 0]]);
  });
});

describe.runIf(process.platform === "linux")("a full disk", () => {
  it("ends an import, of which nothing remains, and the database stays usable", async (ctx) => {
    const { databases, folder, call, file } = await enter();
    const disk = join(folder, "disk");
    await mkdir(disk);
    await smallDisk(ctx, disk);
    await copyFile(file, join(disk, "small.db"));
    await fill(folder, 50_000);
    const database = join(disk, "small.db");
    await expect(
      importCsv(databases, { ...given, database, table: "users" }, call),
    ).rejects.toMatchObject({
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
    const exporting = exportRows(databases, { sql, params: [], path: "disk/out.csv" }, call);
    await expect(exporting).rejects.toMatchObject({ kind: "unavailable", code: "enospc" });
    expect(await readdir(disk)).toEqual([]);
  });
});

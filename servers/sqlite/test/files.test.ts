import { createHash } from "node:crypto";
import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { exportRows } from "@refmcp/sql";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { Reader } from "../src/database/driver/reader.ts";
import { ask, change, described, namesIn, rowsOf } from "./asking.ts";
import { enter, type Lab } from "./lab.ts";
import { talk } from "./session.ts";

const { signal } = new AbortController();
const digest = async (file: string) =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
const exported = (here: Lab, path: string) =>
  exportRows(
    here.databases,
    { sql: "SELECT 1", params: [], path },
    { signal, progress: () => undefined },
  );

describe("paths", () => {
  it("outside the allowed directories are refused, also through symlinks", async () => {
    const here = await enter();
    const other = await enter();
    await symlink(other.file, join(here.folder, "link.db"));
    await symlink(other.folder, join(here.folder, "away"));
    const refused = (database: string, kinds: RegExp) =>
      expect(ask(here, "SELECT 1", { database }), database).rejects.toMatchObject({
        kind: expect.stringMatching(kinds),
      });
    for (const database of [
      other.file,
      "../x.db",
      "link.db",
      "away/shop.db",
      "/etc/passwd",
      "file:shop.db?mode=rwc",
    ])
      await refused(database, /denied|not_found/);
    for (const database of [":memory:", "", "mian"])
      await refused(database, /denied|not_found|invalid/);
    const count = await rowsOf(here, "SELECT count(*) FROM users", { database: "shop.db" });
    expect(count).toEqual([[3]]);
    expect((await readdir(here.folder)).sort()).toEqual(["away", "link.db", "shop.db"]);
  });

  it("of SQLite's own files may not be symlinks, which SQLite would follow", async () => {
    const here = await enter();
    const victim = join(here.folder, "victim");
    await writeFile(victim, "precious");
    for (const companion of ["-journal", "-wal", "-shm"]) {
      const lab = await enter({ allowDdl: true });
      await symlink(victim, lab.file + companion);
      for (const call of [() => change(lab, "DELETE FROM users"), () => ask(lab, "SELECT 1")])
        await expect(call(), companion).rejects.toMatchObject({ kind: "denied" });
      expect(await readFile(victim, "utf8")).toBe("precious");
    }
  });

  it("that a journal names are not deleted, as SQLite would do after rolling it back", async () => {
    const here = await enter();
    const victim = join(here.folder, "victim");
    await writeFile(victim, "precious");
    const magic = Buffer.from("d9d505f920a163d7", "hex");
    const numbers = (...values: readonly number[]) =>
      Buffer.concat(values.map((value) => Buffer.from(value.toString(16).padStart(8, "0"), "hex")));
    const header = Buffer.alloc(512);
    Buffer.concat([magic, numbers(0, 1, 4, 512, 4_096)]).copy(header);
    const name = Buffer.from(victim);
    const sum = name.reduce((total, byte) => total + byte, 0);
    const named = [numbers(0x40000000 / 4_096 + 1), name, numbers(name.length, sum), magic];
    await writeFile(`${here.file}-journal`, Buffer.concat([header, ...named]));
    await expect(change(here, "DELETE FROM orders")).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringContaining("-journal names another file, which would be deleted"),
    });
    expect(await readFile(victim, "utf8")).toBe("precious");
  });

  it("of SQLite's own files can't be exported to: SQLite would roll back a journal", async () => {
    const here = await enter();
    for (const path of ["shop.db-journal", "shop.db-wal", "other.db-SHM"])
      await expect(exported(here, path), path).rejects.toMatchObject({ kind: "denied" });
    await expect(exported(here, "shop.db")).rejects.toMatchObject({ kind: "conflict" });
    expect(await readdir(here.folder)).toEqual(["shop.db"]);
  });

  it("of a replaced file are read again, but not if it did not pass the boundary", async () => {
    const here = await enter();
    const other = await enter({ sql: "UPDATE users SET city = 'Rome'" });
    const cities = () => rowsOf(here, "SELECT DISTINCT city FROM users ORDER BY 1");
    expect(await cities()).toEqual([["Edinburgh"], ["London"]]);
    await rename(other.file, here.file);
    expect(await cities()).toEqual([["Rome"]]);
    expect(() => new Reader(Sqlite).open(here.place)).toThrow("swapped");
  });

  it("of directories, empty and missing files are handled", async () => {
    const here = await enter();
    await mkdir(join(here.folder, "folder.db"));
    await writeFile(join(here.folder, "empty.db"), "");
    await expect(ask(here, "SELECT 1", { database: "folder.db" })).rejects.toHaveProperty("kind");
    const count = "SELECT count(*) FROM sqlite_schema";
    expect(await rowsOf(here, count, { database: "empty.db" })).toEqual([[0]]);
    const server = await talk(["--db-path", join(here.folder, "folder.db"), "--allow-ddl"]);
    expect((await server.call("list_tables")).text).toContain("is not a regular file");
    await server.close();
    const file = join(here.folder, "made.db");
    const maker = await talk(["--db-path", file, "--allow-write", "--allow-ddl"]);
    expect((await maker.call("list_tables")).text).toContain("does not exist");
    const dry = { statements: ["CREATE TABLE t (x)"], dry_run: true };
    expect((await maker.call("execute", dry)).text).toContain("does not exist");
    expect(await readdir(here.folder)).not.toContain("made.db");
    await maker.data("create_table", { query: "CREATE TABLE t (x)" });
    expect((await maker.call("list_tables")).text).toContain('"table":"t"');
    await maker.close();
  });
});

describe("a damaged file", () => {
  it.each(isLong ? ["text", "noise", "encrypted"] : ["encrypted"])(
    "that is not a database (%s) is named, and stays unchanged",
    async (kind) => {
      const here = await enter();
      const file = join(here.folder, "bad.db");
      const bytes = Buffer.alloc(8_192);
      for (let at = 0; at < bytes.length; at++)
        bytes[at] = (at * 7_919 + (at >> 3) * 104_729) & 255;
      // Of an encrypted database at most bytes 16 to 23 of the header are plain; the rest looks like noise.
      if (kind === "encrypted") (await readFile(here.file)).copy(bytes, 16, 16, 24);
      await writeFile(file, kind === "text" ? "no database at all, only text ".repeat(300) : bytes);
      const before = await digest(file);
      for (const sql of ["SELECT * FROM users", "PRAGMA integrity_check"])
        await expect(ask(here, sql, { database: "bad.db" })).rejects.toMatchObject({
          kind: "unavailable",
          code: "SQLITE_NOTADB",
          message: expect.stringContaining("bad.db is not a SQLite database"),
        });
      expect(await digest(file)).toBe(before);
      expect(await rowsOf(here, "SELECT 1")).toEqual([[1]]);
    },
  );

  it("with torn pages is reported, and does not end the server", async () => {
    const here = await enter({
      sql: "CREATE TABLE many AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 20000) SELECT n, hex(randomblob(20)) AS x FROM t; CREATE INDEX many_n ON many (n);",
    });
    const handle = await open(here.file, "r+");
    for (const page of [3, 4, 5, 6, 20, 21, 40])
      await handle.write(Buffer.alloc(3_000, 0xa5), 0, 3_000, page * 4_096);
    await handle.close();
    const before = await digest(here.file);
    const sum = "SELECT sum(length(x)) FROM many NOT INDEXED";
    const corrupt = { kind: "unavailable", code: "SQLITE_CORRUPT" };
    await expect(ask(here, sum)).rejects.toMatchObject(corrupt);
    const check = await ask(here, "PRAGMA quick_check").catch(({ message }: Error) => message);
    expect(check).not.toMatchObject({ rows: [["ok"]] });
    expect(await digest(here.file)).toBe(before);
    await truncate(here.file, 10_000);
    await expect(ask(here, sum)).rejects.toMatchObject({ kind: "unavailable" });
    const other = await enter();
    await copyFile(other.file, join(here.folder, "whole.db"));
    const whole = await rowsOf(here, "SELECT count(*) FROM users", { database: "whole.db" });
    expect(whole).toEqual([[3]]);
  });

  it("whose schema refers to missing functions and modules is read as far as possible", async () => {
    const here = await enter();
    const maker = new Sqlite(here.file);
    maker.exec(
      "CREATE TABLE gone (x); CREATE VIEW lost AS SELECT x FROM gone; CREATE VIEW loop AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t; DROP TABLE gone;",
    );
    maker.unsafeMode();
    maker.pragma("writable_schema=ON");
    maker.exec(
      "INSERT INTO sqlite_schema VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING nomodule(x)')",
    );
    maker.close();
    expect(await namesIn(here)).toEqual(["odd", "orders", "users", "loop", "lost"]);
    const of = (name: string) => described(here, name);
    for (const [name, part] of [
      ["lost", "CREATE VIEW lost"],
      ["odd", "nomodule"],
    ] as const) {
      const ddl = expect.stringContaining(part);
      expect(await of(name)).toMatchObject({ ddl, notices: expect.anything() });
    }
    const first = { sample: [[1], [2], [3]], row_count: 100_000, more_rows: true };
    expect(await of("loop")).toMatchObject(first);
    expect(await of("users")).toMatchObject({ row_count: 3 });
  });
});

describe("other processes", () => {
  it("that hold the lock make a call wait two seconds, then fail with the reason", async () => {
    const here = await enter();
    const holder = new Sqlite(here.file);
    holder.exec("BEGIN EXCLUSIVE");
    const busy = {
      kind: "unavailable",
      message: expect.stringContaining("Another process has locked"),
    };
    await Promise.all([
      expect(ask(here, "SELECT * FROM users")).rejects.toMatchObject(busy),
      expect(change(here, "INSERT INTO users VALUES (7, 'x', 'y')")).rejects.toMatchObject(busy),
    ]);
    holder.exec("ROLLBACK");
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[3]]);
    holder.exec("BEGIN IMMEDIATE; INSERT INTO users VALUES (8, 'x', 'y')");
    // A writer that has not committed does not block readers.
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[3]]);
    holder.exec("COMMIT");
    holder.close();
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[4]]);
  });

  it("in WAL mode are visible before a checkpoint", async () => {
    const here = await enter();
    const writer = new Sqlite(here.file);
    writer.pragma("journal_mode=WAL");
    writer.exec("INSERT INTO users VALUES (4, 'New', 'Leeds')");
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[4]]);
    writer.exec("BEGIN EXCLUSIVE");
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[4]]);
    writer.exec("COMMIT");
    await change(here, "INSERT INTO users VALUES (5, 'Other', 'Leeds')");
    expect(writer.prepare("SELECT count(*) FROM users").pluck().get()).toBe(5);
    writer.close();
  });
});

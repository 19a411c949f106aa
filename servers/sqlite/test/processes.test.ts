import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { nodeBoundByPermissions } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { someOf } from "../../../vitest.long.ts";
import { change, ENDLESS, rowsOf } from "./asking.ts";
import { enter } from "./lab.ts";
import { talkToProcess } from "./session.ts";

const FILL =
  "INSERT INTO users (name) WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT hex(randomblob(500)) FROM t";
/** Large enough that SQLite writes to the file before the commit, because its cache is full. */
const isWriting = (file: string) => expect.poll(async () => (await stat(file)).size);

describe("a killed process", () => {
  it("leaves nothing of an unfinished change", async () => {
    const here = await enter({ timeoutMs: 3_600_000 });
    const controller = new AbortController();
    const stopped = change(here, FILL, { signal: controller.signal });
    const caught = expect(stopped).rejects.toThrow("killed");
    await isWriting(here.file).toBeGreaterThan(1_000_000);
    controller.abort(new Error("killed"));
    await caught;
    expect(await rowsOf(here, "PRAGMA integrity_check")).toEqual([["ok"]]);
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[3]]);
  });

  it("may be the server (kill -9): its queries end, and an unfinished change is rolled back", async () => {
    const here = await enter();
    const flags = "--allow-write --confirm never --query-timeout-ms 3600000".split(" ");
    const server = await talkToProcess(["--db-path", here.file, ...flags]);
    const call = (name: string, query: string) =>
      server.call(name, { query }).catch(() => undefined);
    const calls = [call("write_query", FILL), call("read_query", ENDLESS)];
    await isWriting(here.file).toBeGreaterThan(1_000_000);
    process.kill(server.connected.pid ?? 0, "SIGKILL");
    await Promise.all(calls);
    // The runner holds the lock while it writes; after its end the journal is rolled back.
    const other = new Sqlite(here.file, { timeout: 60_000 });
    other.exec("BEGIN EXCLUSIVE; ROLLBACK");
    expect(other.prepare("SELECT count(*) FROM users").pluck().get()).toBe(3);
    expect(other.pragma("integrity_check", { simple: true })).toBe("ok");
    other.close();
    await server.close();
  });
});

describe("the journal of a killed process", () => {
  it("is rolled back, however short the time limit of statements", async () => {
    const here = await enter({ timeoutMs: 1 });
    const code = 'new (require("better-sqlite3"))(process.argv[1]).exec(process.argv[2])';
    const writer = spawn(process.execPath, ["-e", code, here.file, FILL], {
      cwd: import.meta.dirname,
    });
    await isWriting(here.file).toBeGreaterThan(1_000_000);
    writer.kill("SIGKILL");
    await once(writer, "close");
    expect(await readdir(here.folder)).toEqual(["shop.db", "shop.db-journal"]);
    await (await here.databases.at()).recover();
    expect(await readdir(here.folder)).toEqual(["shop.db"]);
  });
});

describe("a read-only directory", () => {
  it.each(someOf(2, ["DELETE", "WAL"]))(
    "can be read in journal mode DELETE, and in WAL mode the error explains why not (%s); nothing changes",
    async (mode) => {
      const here = await enter();
      const folder = join(here.folder, "locked");
      await mkdir(folder);
      const file = join(folder, "locked.db");
      const maker = new Sqlite(file);
      maker.pragma(`journal_mode=${mode}`);
      maker.exec("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
      maker.close();
      await chmod(file, 0o444);
      await chmod(folder, 0o555);
      const server = await talkToProcess(["--db-path", file, "--allow-write"], {
        node: nodeBoundByPermissions(),
      });
      const call = async (name: string, query: string) => (await server.call(name, { query })).text;
      const read = await call("read_query", "SELECT x FROM t");
      if (mode === "DELETE") expect(read).toContain('"rows":[[1]]');
      else expect(read).toMatch(/WAL mode.*not writable/);
      expect(await call("write_query", "INSERT INTO t VALUES (2)")).toMatch(
        /Nothing was changed|cannot be (opened|written)/,
      );
      await server.close();
      expect(await readdir(folder)).toEqual(["locked.db"]);
      await chmod(folder, 0o755);
    },
  );
});

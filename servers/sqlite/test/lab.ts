import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { ChangeStore } from "@refmcp/sql";
import { fakeCall } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { Place } from "../src/database/driver/handle.ts";
import { openDatabases } from "../src/database/open.ts";

const SCHEMA = `
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users(id), total REAL);
INSERT INTO users VALUES (1, 'Ada', 'London'), (2, 'Mary', 'Edinburgh'), (3, 'Charles', 'London');
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 20), (3, 3, 7.25);
CREATE INDEX orders_user ON orders (user_id);`;

/** A folder with a small real database, opened with the server's own code. */
export async function lab(
  options: {
    allowDdl?: boolean;
    timeoutMs?: number;
    memory?: number;
    sql?: string;
    undo?: boolean;
    /** Where changes are recorded; by default a directory that is removed with the lab. */
    state?: string;
  } = {},
) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sqlite-")));
  const file = join(folder, "shop.db");
  const state = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sqlite-state-")));
  const database = new Sqlite(file);
  database.exec(SCHEMA + (options.sql ?? ""));
  database.close();
  const allowed = new DirectoryAllowlist({
    configured: [{ path: folder, source: "argument" }],
    mode: "off",
  });
  const databases = openDatabases({
    files: [{ name: "main", value: file }],
    guard: createPathGuard(allowed),
    changes: new ChangeStore({
      directories: [options.state ?? state],
      allowed,
      enabled: options.undo ?? true,
      days: 30,
    }),
    allowDdl: options.allowDdl ?? false,
    maxMemoryMb: options.memory ?? 400,
    queryTimeoutMs: options.timeoutMs ?? 20_000,
  });
  const { dev, ino } = await stat(file);
  const place: Place = { file, device: dev, inode: ino };
  return {
    call: fakeCall(),
    folder,
    state,
    file,
    place,
    databases,
    async dispose() {
      await databases.close();
      for (const path of [folder, state]) await rm(path, { recursive: true, force: true });
    },
  };
}

export type Lab = Awaited<ReturnType<typeof lab>>;

/** The same for one test. */
export async function enter(options: Parameters<typeof lab>[0] = {}): Promise<Lab> {
  const here = await lab(options);
  onTestFinished(() => here.dispose());
  return here;
}

/** The processes that run SQLite for a server, by default this one: their last argument is its pid. */
export async function runnersOf(server = process.pid): Promise<string[]> {
  // Other systems have no list of processes to read.
  const pids = existsSync("/proc/self/cmdline") ? await readdir("/proc") : [];
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
  const ends = (await Promise.all(lines)).map((line) => line.endsWith(`\0${server}\0`));
  return pids.filter((_, at) => ends[at]);
}

import { existsSync } from "node:fs";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packaged, startCluster } from "@refmcp/embedded-postgres";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isLong, itLong } from "../../../../../vitest.long.ts";
import manifest from "../../../package.json" with { type: "json" };
import { isRunning, type Talk, talk, talkToProcess } from "../../../test/session.ts";

const isRoot = process.getuid?.() === 0;
const outer = process.env.TMPDIR;

/** Also for the user that PostgreSQL runs as where the tests run as root. */
let folder: string;
/** Holds what clusters make, and must be empty when they ended. */
let temporary: string;
beforeEach(async () => {
  // Short, for a socket below it.
  const parent = process.platform === "win32" ? tmpdir() : "/tmp";
  folder = await mkdtemp(join(parent, "refmcp-embedded-"));
  temporary = join(folder, "tmp");
  await mkdir(temporary);
  await chmod(folder, 0o755);
  await chmod(temporary, 0o777);
  process.env.TMPDIR = temporary;
});
afterEach(async () => {
  if (outer === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = outer;
  await rm(folder, { recursive: true, force: true });
});

const args = (...more: readonly string[]) => [...more, "--allow-write", "--root", folder];
const persistentArgs = () => args("--embedded-dir", join(folder, "data"));
const sql = (server: Talk, text: string) => server.data("query", { sql: text });

/** The process id of the PostgreSQL whose data is in a directory. */
async function postmaster(data: string): Promise<number> {
  return Number((await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")[0]);
}
/** The folder of the running cluster. */
async function clusterFolder(): Promise<string> {
  const [only, ...others] = await readdir(temporary);
  if (only === undefined || others.length > 0)
    throw new Error(`${temporary} has ${only}, ${others}`);
  return join(temporary, only);
}

describe("when the embedded database ends on its own", () => {
  /** What is left of temporary files, without what Node.js 24 keeps of compiled modules. */
  const leftoverFiles = async () =>
    (await readdir(temporary)).filter((name) => name !== "node-compile-cache");

  it("a running call reports the loss, the log has the cause, and the next call restarts it", async () => {
    const server = await talk(args("--embedded"));
    await writeFile(join(folder, "one.csv"), "id\n1\n");
    await server.data("pg_execute", {
      statements: [
        "CREATE TABLE notes (id int)",
        "CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'",
        "CREATE TRIGGER nap BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION nap()",
      ],
    });
    const calls = [
      server.call("query", { sql: "SELECT pg_sleep(600)" }),
      server.call("pg_import_csv", { path: "one.csv", table: "notes" }),
    ];
    const sleeping = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await expect.poll(async () => (await sql(server, sleeping)).rows).toEqual([[2]]);
    process.kill(await postmaster(join(await clusterFolder(), "data")), "SIGKILL");
    for (const { text, isError } of await Promise.all(calls)) {
      expect(isError).toBe(true);
      expect(text).toMatch(
        /The embedded database stopped; its temporary data is lost\.\n.*--embedded-dir/,
      );
    }
    expect(server.connected.stderr()).toMatch(
      /error: the embedded database stopped: PostgreSQL ended by SIGKILL/,
    );
    expect((await server.call("query", { sql: "SELECT 1 FROM notes" })).text).toContain("42P01");
    await server.close();
    await expect.poll(leftoverFiles).toEqual([]);
  });

  itLong(
    "if idle, the next call reports it, and committed data in a directory is kept",
    async () => {
      const server = await talk(persistentArgs());
      await server.data("pg_execute", { statements: ["CREATE TABLE notes AS SELECT 7 AS id"] });
      const pid = await postmaster(join(folder, "data", "data"));
      process.kill(pid, "SIGKILL");
      await expect.poll(() => server.connected.stderr()).toContain("ended by SIGKILL");
      expect(await server.refused("query", { sql: "SELECT id FROM notes" })).toContain(
        `stopped; everything committed is kept in ${join(folder, "data")}`,
      );
      expect((await sql(server, "SELECT id FROM notes")).rows).toEqual([[7]]);
      await server.close();
    },
  );

  it.each(isLong ? ["--embedded", "--embedded-dir"] : ["--embedded-dir"])(
    "nothing is left when the server is killed (%s)",
    async (option) => {
      const serverArgs = option === "--embedded" ? args("--embedded") : persistentArgs();
      const server = await talkToProcess(serverArgs, { env: { TMPDIR: temporary } });
      await server.data("pg_execute", { statements: ["CREATE TABLE notes AS SELECT 7 AS id"] });
      const parent = option === "--embedded" ? await clusterFolder() : join(folder, "data");
      const data = join(parent, "data");
      const pid = await postmaster(data);
      expect(isRunning(pid)).toBe(true);
      process.kill(server.connected.pid ?? 0, "SIGKILL");
      await expect.poll(() => isRunning(pid)).toBe(false);
      await expect.poll(leftoverFiles).toEqual([]);
      if (option === "--embedded") return;
      // It was stopped in good order.
      expect(existsSync(join(data, "postmaster.pid"))).toBe(false);
      const again = await talk(serverArgs);
      expect((await sql(again, "SELECT id FROM notes")).rows).toEqual([[7]]);
      await again.close();
    },
  );

  it("nothing is left when the server is killed while the database is made", async () => {
    const server = await talkToProcess(persistentArgs(), { env: { TMPDIR: temporary } });
    server.call("query", { sql: "SELECT 1" }).catch(() => undefined);
    const fileNames = async () => String(await readdir(join(folder, "data")).catch(() => []));
    await expect.poll(fileNames, { interval: 5 }).toContain(".new-");
    process.kill(server.connected.pid ?? 0, "SIGKILL");
    await expect
      .poll(async () => [await leftoverFiles(), await readdir(join(folder, "data"))])
      .toEqual([[], []]);
  });
});

describe("the role", () => {
  it("is the only one that can connect, over a private socket, and can't reach files, programs, other servers or the superuser, even in text that the gate can't check", async () => {
    const server = await talk([...args("--embedded"), "--confirm", "never"]);
    const settings = "SELECT current_setting('listen_addresses'), current_user, session_user";
    expect((await sql(server, settings)).rows).toEqual([
      [process.platform === "win32" ? "127.0.0.1" : "", "refmcp", "refmcp"],
    ]);
    const host = await clusterFolder();
    if (process.platform !== "win32") {
      expect((await stat(host)).mode & 0o777).toBe(0o700);
      const superuser = new pg.Client({ host, user: "postgres", database: "postgres" });
      await expect(superuser.connect()).rejects.toMatchObject({ code: "28000" });
    }
    const proof = join(temporary, "proof");
    await server.data("pg_execute", { statements: ["CREATE TABLE lines (line text)"] });
    for (const attack of [
      `COPY lines FROM PROGRAM 'id'`,
      `COPY lines TO PROGRAM 'touch ${proof}'`,
      `COPY lines TO '${proof}'`,
      `COPY lines FROM '/etc/passwd'`,
      `INSERT INTO lines SELECT pg_read_file('/etc/passwd')`,
      `INSERT INTO lines SELECT pg_ls_dir('/')`,
      `INSERT INTO lines SELECT rolpassword FROM pg_authid`,
      `SELECT lo_import('/etc/passwd')`,
      "CREATE EXTENSION file_fdw",
      "CREATE EXTENSION dblink",
      "CREATE EXTENSION adminpack",
      "CREATE FUNCTION run(text) RETURNS int LANGUAGE c STRICT AS 'libc.so.6', 'system'",
      "LOAD '/tmp/any.so'",
      "CREATE ROLE intruder SUPERUSER",
      "ALTER ROLE refmcp SUPERUSER",
      "SET ROLE postgres",
      "SET SESSION AUTHORIZATION postgres",
      "ALTER SYSTEM SET archive_command = 'id'",
      "SET session_preload_libraries = '/tmp/any.so'",
    ]) {
      const { text, isError } = await server.call("pg_execute", {
        statements: [`DO $outer$ BEGIN EXECUTE $inner$${attack}$inner$ || ''; END $outer$`],
      });
      expect(isError, attack).toBe(true);
      expect(text, attack).toMatch(/SQLSTATE (42501|0A000|25001)/);
    }
    expect(existsSync(proof)).toBe(false);
    expect((await sql(server, "SELECT count(*) FROM lines")).rows).toEqual([[0]]);
    await server.close();
  });
});

describe("the directory", () => {
  it("is for one server at a time", async () => {
    const first = await talk(persistentArgs());
    await sql(first, "SELECT 1");
    const second = await talk(persistentArgs());
    expect(await second.refused("query", { sql: "SELECT 1" })).toMatch(
      /The embedded database in .*data is in use by another process\.\nOne server at a time/,
    );
    expect((await first.call("query", { sql: "SELECT 1" })).isError).toBe(false);
    await first.close();
    expect((await sql(second, "SELECT 1")).rows).toEqual([[1]]);
    await second.close();
  });

  it("is refused if it contains anything else, which stays unchanged", async () => {
    const directory = join(folder, "data");
    const refused = async () => {
      const server = await talk(persistentArgs());
      const text = await server.refused("query", { sql: "SELECT 1" });
      await server.close();
      return text;
    };
    await mkdir(directory);
    await writeFile(join(directory, "letter.txt"), "Hello");
    expect(await refused()).toMatch(
      /data is not empty and does not contain an embedded database\.\nPass --embedded-dir/,
    );
    expect(await readdir(directory)).toEqual(["letter.txt"]);
    // As another PostgreSQL leaves it, or PGlite.
    await writeFile(join(directory, "PG_VERSION"), "17\n");
    expect(await refused()).toMatch(/is not empty and does not contain an embedded database/);
    await rm(directory, { recursive: true });

    const server = await talk(persistentArgs());
    await sql(server, "SELECT 1");
    await server.close();
    await writeFile(join(directory, "data", "PG_VERSION"), "16\n");
    expect(await refused()).toMatch(
      /was written by PostgreSQL 16, and the installed binaries are PostgreSQL 18/,
    );
    expect(await readdir(temporary)).toEqual([]);
  });

  it.runIf(isRoot)(
    "must be within reach of the user that PostgreSQL runs as, for root",
    async () => {
      await chmod(folder, 0o700);
      const server = await talk(persistentArgs());
      expect((await server.call("query", { sql: "SELECT 1" })).text).toMatch(
        /PostgreSQL does not run as root, and user \d+, .* cannot enter .*such as \/var\/lib/s,
      );
      await server.close();
    },
  );
});

describe("the binaries", () => {
  it("have the version that the error about a missing package names", async () => {
    const { name, version } = JSON.parse(
      await readFile(join(packaged(manifest), "..", "package.json"), "utf8"),
    );
    expect(new Map(Object.entries(manifest.peerDependencies)).get(name)).toBe(version);
  });

  itLong(
    "run from a private copy if the folder is closed or npm's install scripts did not run",
    async () => {
      // As npx has them for root, and as npm 12 installs them.
      const cache = join(folder, "cache");
      await mkdir(cache, { mode: 0o700 });
      const native = join(cache, "native");
      await cp(packaged(manifest), native, { recursive: true, verbatimSymlinks: true });
      const links: readonly { target: string }[] = existsSync(join(native, "pg-symlinks.json"))
        ? JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8"))
        : [];
      for (const { target } of links) await rm(join(cache, target), { force: true });
      const cluster = await startCluster({ directory: undefined, maxConnections: 2, native });
      const { host, port, user, database, password } = cluster;
      const client = new pg.Client({ host, port, user, database, password });
      await client.connect();
      expect((await client.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
      await client.end();
      await cluster.stop();
      expect(await readdir(temporary)).toEqual([]);
    },
  );
});

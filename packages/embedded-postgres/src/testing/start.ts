import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { findBinaries } from "./programs.ts";

/** A PostgreSQL server that tests may change freely. */
export interface TestPostgres {
  /** `postgres://…` of an empty database; the user is a superuser, unless TEST_DATABASE_URL names another. */
  readonly url: string;
  /** Creates another empty database on the same server and returns its URL; it is dropped with the server. */
  createDatabase(): Promise<string>;
  /**
   * Stops the server, which ends every connection, and starts it again at the same address with its data.
   *
   * @throws Error if the server is that of `TEST_DATABASE_URL`; `settings: {}` starts a private one.
   */
  restart(): Promise<void>;
  /** Stops the server and removes all of it. A second call does nothing. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The folder with `initdb` and `postgres`; default: see `findBinaries`. */
  readonly binaries?: string;
  /**
   * Settings of the server, for example `shared_preload_libraries`; a separate server is started for them.
   */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a real PostgreSQL on a free loopback port, with a private data directory, never as root. It ends with
 * `stop()`, and also when this process dies. With `TEST_DATABASE_URL` that server is used instead: databases with
 * random names are created there and dropped by `stop()`.
 *
 * @throws Error if no server is available, which fails a suite that needs one.
 */
export async function startPostgres(options: StartOptions = {}): Promise<TestPostgres> {
  const given = process.env.TEST_DATABASE_URL;
  const isOwn = options.binaries !== undefined || options.settings !== undefined;
  if (given !== undefined && given !== "" && !isOwn) return databasesOn(given);
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const bin = options.binaries ?? findBinaries();
  const supervisor = spawn(
    process.execPath,
    [
      fileURLToPath(new URL("./supervisor.mjs", import.meta.url)),
      JSON.stringify({ bin, user, settings: options.settings }),
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const url = await urlOf(supervisor);
  const postgres = await databasesOn(url, () => endOf(supervisor));
  return { ...postgres, restart: () => restarted(supervisor) };
}

async function urlOf(supervisor: ChildProcess): Promise<string> {
  if (supervisor.stdout === null) throw new Error("The PostgreSQL supervisor has no stdout.");
  for await (const line of createInterface({ input: supervisor.stdout })) {
    if (line.startsWith("ready ")) return line.slice("ready ".length);
    if (line.startsWith("failed ")) throw new Error(`PostgreSQL: ${line.slice("failed ".length)}`);
  }
  throw new Error("The PostgreSQL supervisor exited without output.");
}

async function restarted(supervisor: ChildProcess): Promise<void> {
  const { stdin, stdout } = supervisor;
  if (stdin === null || stdout === null) throw new Error("The PostgreSQL supervisor has no pipes.");
  const done = once(stdout, "data");
  stdin.write("restart\n");
  await done;
}

async function endOf(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  const closed = once(supervisor, "close");
  supervisor.stdin?.end();
  await closed;
}

/** Databases with random names on the server of `url`. @param end ends the server with all of them, if it is ours */
async function databasesOn(url: string, end?: () => Promise<void>): Promise<TestPostgres> {
  const created: string[] = [];
  let stopped = false;
  const createDatabase = async () => {
    const name = `refmcp_test_${randomBytes(6).toString("hex")}`;
    await query(url, `CREATE DATABASE ${name}`);
    created.push(name);
    const own = new URL(url);
    own.pathname = `/${name}`;
    return own.href;
  };
  return {
    url: await createDatabase(),
    createDatabase,
    async restart() {
      throw new Error(
        "The server of TEST_DATABASE_URL can't be restarted; pass settings: {} to start a private one.",
      );
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      if (end !== undefined) await end();
      else for (const name of created) await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function query(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** PostgreSQL refuses to run as root, so it runs as `postgres` or `nobody`. */
function unprivilegedUser(): { uid: number; gid: number } {
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // No such user here.
    }
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody.");
}

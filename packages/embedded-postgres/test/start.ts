import { type ChildProcess, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "../src/cluster.ts";
import { isWindows, privateFolder, userFor } from "../src/data-directory.ts";
import { programsOf } from "../src/programs.ts";
import { Supervisor } from "../src/supervisor.ts";
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
  const bin = options.binaries ?? findBinaries();
  const { url, restart, stop } = await startServer(bin, options.settings ?? {});
  return { ...(await databasesOn(url, stop)), restart };
}

/** A data directory that initdb made, and the password of its superuser. */
interface Cluster {
  readonly data: string;
  readonly password: string;
}

/** By the folder of the binaries: initdb takes twenty times as long as a copy of its result. */
const templates = new Map<string, Promise<Cluster>>();

/** The template of this process, which ends with it. */
function templateOf(bin: string): Promise<Cluster> {
  const known = templates.get(bin);
  if (known !== undefined) return known;
  const made = (async () => {
    const user = await userFor(undefined);
    const folder = await privateFolder(user);
    const supervisor = new Supervisor([folder], user);
    try {
      await supervisor.started;
      return await initialize(bin, folder, supervisor);
    } catch (error) {
      templates.delete(bin);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      supervisor.end();
      throw error;
    }
  })();
  templates.set(bin, made);
  return made;
}

/** Runs initdb in a private folder. */
async function initialize(bin: string, folder: string, supervisor: Supervisor): Promise<Cluster> {
  const user = await userFor(undefined);
  const { step } = programsOf(bin, folder, user, supervisor);
  const data = join(folder, "data");
  const password = randomBytes(18).toString("base64url");
  const secret = join(folder, "password");
  await writeFile(secret, password, { mode: 0o600 });
  if (user !== undefined) await chown(secret, user.uid, user.gid);
  const authentication = ["-U", "refmcp", "--pwfile", secret, "-A", "scram-sha-256"];
  await step("initdb", ["-D", data, ...authentication, "-E", "UTF8", "--locale=C", "-N"]);
  return { data, password };
}

/** A data directory in a private folder. */
async function clusterIn(folder: string, bin: string, supervisor: Supervisor): Promise<Cluster> {
  if (isWindows) return await initialize(bin, folder, supervisor);
  const template = await templateOf(bin);
  const data = join(folder, "data");
  const user = await userFor(undefined);
  await promisify(execFile)("cp", ["-R", template.data, data], { cwd: folder, ...user });
  return { ...template, data };
}

/** A server with its own data, whose superuser has a password. */
async function startServer(bin: string, given: Readonly<Record<string, string>>) {
  const user = await userFor(undefined);
  const folder = await privateFolder(user);
  const supervisor = new Supervisor([folder], user);
  const { serve } = programsOf(bin, folder, user, supervisor);
  let cluster: Cluster;
  let server: ChildProcess | undefined;
  let port: number | undefined;

  /** Retries the first time, because another process may take the free port. */
  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const tried = port ?? (await freePort());
      const { child, said, isReady } = await serve(cluster.data, {
        listen_addresses: "127.0.0.1",
        port: tried,
        unix_socket_directories: "",
        max_connections: 100,
        // Test data need not survive a power failure.
        fsync: "off",
        full_page_writes: "off",
        // A vacuum would change sizes and statistics in the middle of a test, a minute after the start.
        autovacuum_naptime: "1h",
        ...given,
      });
      server = child;
      if (isReady) {
        port = tried;
        return;
      }
      if (attempt === 5 || !said().includes("Address already in use"))
        throw new Error(`postgres did not start: ${said()}`);
    }
  }

  async function halt(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, "close");
    // Fast shutdown, then an immediate one (PostgreSQL, "Shutting Down the Server").
    server.kill("SIGINT");
    const timer = setTimeout(() => server?.kill("SIGQUIT"), 5000);
    await closed;
    clearTimeout(timer);
  }

  async function stop(): Promise<void> {
    await halt();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    supervisor.end();
  }

  try {
    await supervisor.started;
    cluster = await clusterIn(folder, bin, supervisor);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `postgres://refmcp:${cluster.password}@127.0.0.1:${port}/postgres`,
    stop,
    async restart() {
      await halt();
      await start();
    },
  };
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
      else
        for (const name of created)
          await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
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

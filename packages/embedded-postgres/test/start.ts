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
  /** `postgres://…` of an empty database; the user is a superuser. */
  readonly url: string;
  /** Creates another empty database on the same server and returns its URL. */
  createDatabase(): Promise<string>;
  /** Stops the server, which ends every connection, and starts it again at the same address with its data. */
  restart(): Promise<void>;
  /** Stops the server and removes all of it. */
  stop(): Promise<void>;
}

interface StartOptions {
  /** Settings of the server, for example `shared_preload_libraries`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * Starts a real PostgreSQL on a free loopback port, with a private data directory, never as root. It ends with
 * `stop()`, and also when this process dies.
 *
 * @throws Error if the system has none, which fails a suite that needs one.
 */
export async function startPostgres({ settings = {} }: StartOptions = {}): Promise<TestPostgres> {
  const { url, ...server } = await startServer(findBinaries(), settings);
  const createDatabase = async () => {
    const name = `refmcp_test_${randomBytes(6).toString("hex")}`;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return Object.assign(new URL(url), { pathname: `/${name}` }).href;
  };
  return { ...server, url: await createDatabase(), createDatabase };
}

/** A data directory that initdb made, and the password of its superuser. */
interface Cluster {
  readonly data: string;
  readonly password: string;
}

/** initdb takes twenty times as long as a copy of its result, which ends with this process. */
let template: Promise<Cluster> | undefined;
const templateOf = async (bin: string) => {
  const user = await userFor(undefined);
  const folder = await privateFolder(user);
  const supervisor = new Supervisor([folder], user);
  await supervisor.started;
  return await initialize(bin, folder, supervisor);
};

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
  template ??= templateOf(bin);
  const original = await template;
  const data = join(folder, "data");
  const user = await userFor(undefined);
  await promisify(execFile)("cp", ["-R", original.data, data], { cwd: folder, ...user });
  return { ...original, data };
}

/** A server with its own data, whose superuser has a password. */
async function startServer(bin: string, settings: Readonly<Record<string, string>>) {
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
        ...settings,
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

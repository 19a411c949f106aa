import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { findBinaries } from "./binaries.ts";
import {
  dataDirectory,
  embeddedFailure,
  isWindows,
  privateFolder,
  show,
  userFor,
} from "./data-directory.ts";
import { type Programs, programsOf, type Served } from "./programs.ts";
import { Supervisor } from "./supervisor.ts";

const run = promisify(execFile);

/** A running PostgreSQL that is owned by this process and does not outlive it. */
export interface Cluster {
  /** The directory of its Unix socket; on Windows 127.0.0.1. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Why it stopped; undefined while it runs. */
  readonly end: string | undefined;
  /** Resolves with `end` when PostgreSQL stops. */
  readonly ended: Promise<string>;
  /** Shuts it down cleanly and removes everything except a kept data directory. */
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** The data directory; undefined means a temporary directory. */
  readonly directory: string | undefined;
  readonly maxConnections: number;
  /** The `native` folder of the binaries' package: see `packaged`. */
  readonly native: string;
}

/** The owner of the database. Not a superuser, so that no statement can reach files or programs. */
const ROLE = "refmcp";
const DATABASE = "postgres";
/** A server that is shutting down releases its directory within this time. */
const LOCK_TRIES = 20;
const LOCK_PAUSE_MS = 250;

/**
 * Starts PostgreSQL with the binaries of the npm package, creates the database if there is none yet, and waits until it
 * accepts connections. Only this user (as root: the unprivileged user that PostgreSQL runs as) can connect, over a socket
 * in a private folder, or on Windows with a random password.
 *
 * @throws ToolError `unavailable` if there are no binaries or the directory can't be used.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const user = await userFor(options.directory);
  const folder = await privateFolder(user);
  const fresh =
    options.directory === undefined
      ? join(folder, "data")
      : join(options.directory, `.new-${randomBytes(6).toString("hex")}`);
  const supervisor = new Supervisor(
    [folder, ...(options.directory === undefined ? [] : [fresh])],
    user,
  );
  try {
    await supervisor.started;
    const binaries = await findBinaries(folder, user, options.native);
    const { step, serve } = programsOf(binaries.folder, folder, user, supervisor);
    const password = randomBytes(18).toString("base64url");
    const data = await dataDirectory(options.directory, fresh, binaries.major);
    if (data.isNew) {
      await makeDatabase(step, fresh, options);
      if (options.directory !== undefined) await rename(fresh, data.path);
    }
    if (isWindows) await single(step, data.path, [`ALTER ROLE ${ROLE} PASSWORD '${password}'`]);
    const hba = join(folder, "pg_hba.conf");
    await writeFile(
      hba,
      isWindows
        ? `host ${DATABASE} ${ROLE} 127.0.0.1/32 scram-sha-256\n`
        : `local ${DATABASE} ${ROLE} trust\n`,
    );
    const port = isWindows ? await freePort() : 5432;
    const settings = settingsOf(options, { folder, hba, port });
    const server = await listening(() => serve(data.path, settings), options.directory);
    const removed = async () => {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      supervisor.end();
    };
    const shutDown = () =>
      run(join(binaries.folder, "pg_ctl"), ["stop", "-D", data.path, "-m", "fast"]);
    const address = { host: isWindows ? "127.0.0.1" : folder, port, password };
    return running(server, address, removed, isWindows ? shutDown : undefined);
  } catch (error) {
    for (const path of [folder, fresh])
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    supervisor.end();
    throw error;
  }
}

/** Creates a database cluster and the role that owns its database. */
async function makeDatabase(
  step: Programs["step"],
  fresh: string,
  { directory }: ClusterOptions,
): Promise<void> {
  await step("initdb", [
    ...["-D", fresh, "-U", "postgres", "--auth-local=peer", "--auth-host=reject"],
    ...(directory === undefined ? ["--no-sync"] : []),
    // The same on every system: UTF-8, ordered by code point; ICU collations are available through COLLATE.
    ...["-E", "UTF8", "--locale=C"],
    ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    ...["--no-instructions", "--wal-segsize=1", "-c", "timezone=UTC"],
  ]);
  await single(step, fresh, [
    `CREATE ROLE ${ROLE} LOGIN`,
    // The owner of the database may create schemas and trusted extensions in it.
    `ALTER DATABASE ${DATABASE} OWNER TO ${ROLE}`,
  ]);
}

function settingsOf(
  options: ClusterOptions,
  { folder, hba, port }: { readonly folder: string; readonly hba: string; readonly port: number },
) {
  return {
    hba_file: hba,
    port,
    listen_addresses: isWindows ? "127.0.0.1" : "",
    unix_socket_directories: isWindows ? "" : folder,
    max_connections: options.maxConnections + 5,
    superuser_reserved_connections: 0,
    // Few processes and little shared memory: Docker provides 64 MB.
    io_method: "sync",
    max_logical_replication_workers: 0,
    max_parallel_workers_per_gather: 0,
    max_parallel_maintenance_workers: 0,
    // At rest, PostgreSQL would wake up several times a second.
    bgwriter_delay: "10s",
    bgwriter_lru_maxpages: 0,
    wal_writer_delay: "10s",
    // Callers get statement errors directly; the log is needed only to explain why the server stopped.
    log_min_messages: "log",
    log_min_error_statement: "panic",
    ...(options.directory === undefined
      ? { fsync: "off", full_page_writes: "off", synchronous_commit: "off" }
      : {}),
  };
}

/** Runs statements as the superuser in single-user mode: nobody ever connects as the superuser. */
function single(
  step: Programs["step"],
  data: string,
  statements: readonly string[],
): Promise<void> {
  const input = statements.map((statement) => `${statement};\n\n`).join("");
  return step(
    "postgres",
    ["--single", "-j", "-c", "exit_on_error=on", "-c", "io_method=sync", "-D", data, DATABASE],
    input,
  );
}

/** Waits until the directory's previous server has released it. */
async function listening(
  serve: () => Promise<Served>,
  directory: string | undefined,
): Promise<Served> {
  for (let attempt = 1; ; attempt++) {
    const served = await serve();
    const { child, said, isReady } = served;
    if (isReady) return served;
    if (!/lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(said()))
      throw new Error(`postgres ended with ${child.exitCode ?? child.signalCode}: ${said()}`);
    if (attempt === LOCK_TRIES)
      throw embeddedFailure(
        "in_use",
        `The embedded database in ${show(directory)} is in use by another process.`,
      );
    await delay(LOCK_PAUSE_MS);
  }
}

/** Watches a started server. @param shutDown how to stop it on Windows, which has no SIGINT */
function running(
  { child, said }: Served,
  address: Pick<Cluster, "host" | "port" | "password">,
  removed: () => Promise<void>,
  shutDown: (() => Promise<unknown>) | undefined,
): Cluster {
  let end: string | undefined;
  const ended = once(child, "exit").then(([code, signal]) => {
    end =
      `PostgreSQL ended ${signal === null ? `with code ${code}` : `by ${signal}`}. ${said().slice(-1_000)}`.trim();
    return end;
  });
  const gone = ended.then(removed);
  return {
    ...address,
    user: ROLE,
    database: DATABASE,
    ended,
    get end() {
      return end;
    },
    async stop() {
      // Fast shutdown: ends sessions and rolls back their transactions.
      if (end === undefined && shutDown === undefined) child.kill("SIGINT");
      else if (end === undefined) await shutDown?.().catch(() => child.kill());
      await gone;
    },
  };
}

/** A TCP port that is currently free. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

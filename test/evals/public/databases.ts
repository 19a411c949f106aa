import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { Client } from "pg";
import { type PublicTask, Unavailable } from "./benchmark.ts";
import { missing, type Place, runScript } from "./place.ts";

const execute = promisify(execFile);
const ALL_TOOLS = [
  "--allow-write",
  "--allow-admin",
  "--allow-privileged-role",
  "--toolsets",
  "all",
];

/**
 * A PostgreSQL that only this run uses: the benchmark's scripts connect as a superuser, and drop roles and databases by
 * name.
 */
export class Databases {
  readonly #checkout: string;
  readonly #python: string;
  readonly #binaries: string | undefined;
  #server: Promise<TestPostgres> | undefined;
  /** The filled databases by category, from which each task gets its copy. */
  readonly #templates = new Map<string, Promise<string>>();

  /** @param options.binaries the folder with `initdb` and `postgres`, if not the machine's own PostgreSQL */
  constructor({
    checkout,
    python,
    binaries,
  }: { checkout: string; python: string; binaries?: string }) {
    this.#checkout = checkout;
    this.#python = python;
    this.#binaries = binaries;
  }

  /** A fresh copy of the task's database. */
  async copy(task: PublicTask): Promise<Place> {
    await execute(this.#python, ["-c", "import psycopg2"]).catch(() => {
      throw new Unavailable(
        `${this.#python} has no psycopg2, which the verifiers use (Debian: apt-get install python3-psycopg2)`,
      );
    });
    const prepare = join(task.folder, "prepare_environment.py");
    const dump = ["backup", "sql"]
      .map((type) => join(this.#checkout, "postgres_state", `${task.category}.${type}`))
      .find((path) => existsSync(path));
    if (dump === undefined && !existsSync(prepare))
      throw missing(`postgres_state/${task.category}.backup or .sql`, task);

    this.#server ??= startPostgres({
      settings: {},
      ...(this.#binaries !== undefined && { binaries: this.#binaries }),
    });
    const server = await this.#server;
    const rolesBefore = await roles(server.url);
    const name = `refmcp_public_${randomBytes(6).toString("hex")}`;
    const template =
      dump === undefined ? "" : ` TEMPLATE ${await this.#filled(task.category, dump, server)}`;
    await sql(server.url, `CREATE DATABASE ${name}${template}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    const place: Place = {
      args: ["--url", url.href, ...ALL_TOOLS],
      verifierEnv: {
        POSTGRES_HOST: url.hostname,
        POSTGRES_PORT: url.port,
        POSTGRES_USERNAME: decodeURIComponent(url.username),
        POSTGRES_PASSWORD: decodeURIComponent(url.password),
        POSTGRES_DATABASE: name,
      },
      async dispose() {
        await sql(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
        // Roles belong to the server, so the next task would see them.
        for (const role of await roles(server.url))
          if (!rolesBefore.includes(role)) await sql(server.url, `DROP ROLE ${role}`);
      },
    };
    if (dump !== undefined) return place;
    const prepared = await runScript(this.#python, prepare, {
      cwd: task.folder,
      env: place.verifierEnv,
    });
    if (prepared.passed) return place;
    await place.dispose();
    throw new Unavailable(`prepare_environment.py failed: ${prepared.reason}`);
  }

  /** The name of the category's database, filled once. */
  #filled(category: string, dump: string, server: TestPostgres): Promise<string> {
    const database = this.#templates.get(category) ?? filled(dump, server);
    this.#templates.set(category, database);
    return database;
  }

  async stop(): Promise<void> {
    await (await this.#server)?.stop();
  }
}

async function filled(dump: string, server: TestPostgres): Promise<string> {
  const url = await server.createDatabase();
  const [program, ...args] = dump.endsWith(".sql")
    ? ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", dump]
    : ["pg_restore", "--no-owner", "--no-privileges", "-d", url, dump];
  await execute(program ?? "", args, { maxBuffer: 2 ** 26 }).catch((error: Error) => {
    throw new Unavailable(
      `${program} can't load ${dump}: ${error.message.split("\n").slice(1).join(" ")}`,
    );
  });
  return new URL(url).pathname.slice(1);
}

async function sql(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** The roles of the server, quoted for statements. */
const roles = async (url: string) =>
  (await sql(url, "SELECT quote_ident(rolname) AS role FROM pg_roles")).map(({ role }) =>
    String(role),
  );

import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { connectHttp, type Era, type HttpProcess, untilListening } from "@refmcp/testing";
import { DockerfileParser } from "dockerfile-ast";
import { Client as Database } from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { ROOT, serverBin } from "../servers.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

const execute = promisify(execFile);
const service = z.object({
  image: z.string(),
  user: z.string(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  build: z.object({ context: z.string(), args: z.object({ SERVER: z.string() }) }).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()), timeout: z.string().optional() }).optional(),
  stop_grace_period: z.string().optional(),
});
const compose = z
  .object({
    services: z.record(z.string(), service),
    configs: z.object({ caddyfile: z.object({ content: z.string() }) }),
  })
  .parse(parse(await readFile(join(ROOT, "docs", "compose.yaml"), "utf8"), { merge: true }));

const SECRETS: Readonly<Record<string, string>> = {
  MEMORY_DATABASE_PASSWORD: "d".repeat(64),
  MEMORY_TOKEN: "t".repeat(64),
  MEMORY_STATE_KEY: "k".repeat(64),
};
const headers = { authorization: `Bearer ${SECRETS["MEMORY_TOKEN"]}` };

/** What Compose makes of `${NAME:-default}` and `${NAME:?message}` with the secrets in `.env`. */
function interpolated(text: string): string {
  return text.replaceAll(
    /\$\{(\w+):([-?])([^}]*)\}/g,
    (_, name: string, kind: string, rest: string) => {
      const value = SECRETS[name] ?? (kind === "-" ? rest : undefined);
      if (value === undefined) throw new Error(`${name} ${rest}`);
      return value;
    },
  );
}

const REPLICAS = Object.entries(compose.services).filter(
  ([, { image }]) => image === "refmcp-memory",
);

let folder = "";
let postgres: TestPostgres;
let database: Database;
let replicas: HttpProcess[];
let balancer: Balancer;

/** Starts the program that the image starts, with the container's environment; only addresses and /data are of this machine. */
async function start({ build, environment }: z.infer<typeof service>): Promise<HttpProcess> {
  const folderOfBuild = join(ROOT, "docs", build?.context ?? "");
  const file = DockerfileParser.parse(await readFile(join(folderOfBuild, "Dockerfile"), "utf8"));
  const env: Record<string, string> = {};
  for (const variable of file.getENVs().flatMap((instruction) => instruction.getProperties()))
    env[variable.getName()] = (variable.getValue() ?? "").replace(/^\/data/, folder);
  for (const [name, value] of Object.entries(environment)) env[name] = interpolated(value);
  expect(env["REFMCP_MEMORY_HTTP"]).toBe("0.0.0.0:8080");
  env["REFMCP_MEMORY_HTTP"] = "127.0.0.1:0";
  env["REFMCP_MEMORY_STORE"] = String(env["REFMCP_MEMORY_STORE"]).replace(
    "@database/",
    `@${new URL(postgres.url).host}/`,
  );
  const child = spawn(process.execPath, [serverBin(build?.args.SERVER ?? "")], {
    env,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return untilListening(child);
}

/** The exit code of a replica's health check; all have the same. */
async function checked({ url }: HttpProcess): Promise<number> {
  const [kind, program = "", ...args] = REPLICAS[0]?.[1].healthcheck?.test ?? [];
  expect([kind, program]).toEqual(["CMD", "node"]);
  const own = args.map((text) => text.replace("127.0.0.1:8080", url.host));
  return execute(process.execPath, own).then(
    () => 0,
    ({ code }: { code: number }) => code,
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-compose-"));
  // Its own server, since a role and a database are created.
  postgres = await startPostgres({ settings: {} });
  const admin = new Database({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE ROLE memory LOGIN PASSWORD '${SECRETS["MEMORY_DATABASE_PASSWORD"]}'`);
  await admin.query("CREATE DATABASE memory OWNER memory");
  await admin.end();
  const url = new URL(postgres.url);
  url.pathname = "/memory";
  database = new Database({ connectionString: url.href });
  await database.connect();
  replicas = await Promise.all(REPLICAS.map(([, replica]) => start(replica)));
  const healthPath = /^ *health_uri (\S+)$/m.exec(compose.configs.caddyfile.content)?.[1] ?? "";
  balancer = await startBalancer(
    replicas.map(({ url }) => url),
    { healthPath },
  );
});
afterAll(async () => {
  await balancer?.close();
  for (const replica of replicas ?? []) await replica.stop("SIGKILL");
  await database?.end();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function connect(url: URL, era: Era, asked: string[] = []) {
  const { client, close } = await connectHttp(url, {
    era,
    headers,
    elicit({ message }) {
      asked.push(message);
      return { action: "accept", content: { confirm: true } };
    },
  });
  onTestFinished(close);
  return client;
}

const remember = (name: string) => ({
  name: "create_entities",
  arguments: { entities: [{ name, entityType: "person", observations: [`is called ${name}`] }] },
});
const open = (name: string) => ({ name: "open_nodes", arguments: { names: [name] } });

describe("docs/compose.yaml", () => {
  it("runs every container without privileges, on a read-only file system, as a user", () => {
    expect(Object.keys(compose.services)).toEqual(["database", "memory-1", "memory-2", "proxy"]);
    for (const [name, container] of Object.entries(compose.services)) {
      expect(container, name).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
      expect(container.user, name).not.toMatch(/^(?:0|root)\b/);
    }
  });

  it("sends requests to the replicas that are ready", () => {
    const { content } = compose.configs.caddyfile;
    expect(/reverse_proxy (.*) \{/.exec(content)?.[1]?.split(" ")).toEqual(
      REPLICAS.map(([name]) => `${name}:8080`),
    );
    expect(content).toContain("health_uri /readyz");
  });

  it("gives a replica the time to drain and to end its calls", async () => {
    for (const [, replica] of REPLICAS) {
      const graceMs = Number(/^(\d+)s$/.exec(replica.stop_grace_period ?? "")?.[1]) * 1000;
      const { REFMCP_MEMORY_DRAIN_MS: drain = "5000", REFMCP_MEMORY_TIMEOUT_MS: limit = "50000" } =
        replica.environment;
      expect(graceMs).toBeGreaterThanOrEqual(Number(drain) + Number(limit) + 2_000);
    }
  });
});

describe("the processes of docs/compose.yaml", () => {
  it("are healthy, and serve nobody without the token", async () => {
    expect(replicas).toHaveLength(2);
    expect(REPLICAS[1]?.[1].healthcheck).toEqual(REPLICAS[0]?.[1].healthcheck);
    for (const replica of replicas) {
      // Only a busy machine needs a second one: the database has 5 seconds to answer.
      await expect.poll(() => checked(replica)).toBe(0);
      expect((await fetch(replica.url, { method: "POST" })).status).toBe(401);
    }
  });

  it.each<Era>(["legacy", "modern"])(
    "find what a %s client remembered through the other",
    async (era) => {
      const client = await connect(balancer.url, era);
      const before = balancer.taken.length;
      expect((await client.callTool(remember(`Ada of ${era}`))).isError).not.toBe(true);
      for (let call = 0; call < 2; call += 1)
        expect(
          JSON.stringify((await client.callTool(open(`Ada of ${era}`))).structuredContent),
        ).toContain(`is called Ada of ${era}`);
      expect(new Set(balancer.taken.slice(before + 1))).toEqual(new Set([0, 1]));
    },
  );

  it("confirm a loss across both: one asks, the other gets the answer", async () => {
    const asked: string[] = [];
    const client = await connect(balancer.url, "modern", asked);
    await client.callTool(remember("Bob"));
    const before = balancer.taken.length;
    const deletion = { name: "delete_entities", arguments: { entityNames: ["Bob"], hard: true } };
    const deleted = await client.callTool(deletion);
    expect(deleted.isError, JSON.stringify(deleted.content)).not.toBe(true);
    expect(asked).toHaveLength(1);
    expect([...balancer.taken.slice(before)].sort()).toEqual([0, 1]);
  });

  it("lose no call when one of them ends", async () => {
    const [ending, other] = replicas;
    if (ending === undefined || other === undefined) throw new Error("They are not running.");
    const client = await connect(balancer.url, "modern");
    const direct = await connect(ending.url, "modern");
    await client.callTool(remember("Carol"));
    const read = async (from: typeof client) =>
      expect(JSON.stringify((await from.callTool(open("Carol"))).structuredContent)).toContain(
        "is called Carol",
      );
    // A lock that only writing waits for.
    await database.query("BEGIN");
    await database.query("LOCK TABLE refmcp_memory_default.entities IN SHARE MODE");
    const held = direct.callTool(remember("Dora"));
    const waiting = "SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted";
    await expect.poll(async () => (await database.query(waiting)).rows[0].n).toBeGreaterThan(0);
    const stopped = ending.stop();
    // Its health check is a process, which may start later than the replica stops listening.
    const readiness = async () => (await fetch(new URL("/readyz", ending.url))).json();
    await expect.poll(readiness).toEqual({ status: "ending" });
    // It is no longer ready, but calls that still arrive are served.
    await read(direct);
    expect(await checked(ending)).toBe(1);
    const before = balancer.taken.length;
    const isListening = () =>
      fetch(new URL("/healthz", ending.url)).then(
        () => true,
        () => false,
      );
    do await read(client);
    while (await isListening());
    await read(client);
    expect(new Set(balancer.taken.slice(before))).toEqual(new Set([1]));
    await database.query("COMMIT");
    expect((await held).isError).not.toBe(true);
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(JSON.stringify((await client.callTool(open("Dora"))).structuredContent)).toContain(
      "is called Dora",
    );
    expect(ending.stderr()).not.toContain("closing takes longer");
  });
});

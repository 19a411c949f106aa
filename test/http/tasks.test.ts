import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
} from "@modelcontextprotocol/ext-tasks/client";
import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { connectHttp, type HttpProcess, startHttp } from "@refmcp/testing";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Bundle, bundleServer } from "../bundle.ts";
import { serverBin, serverWorld } from "../servers.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

const VERSION = "2026-07-28";
const CLIENT = { name: "refmcp-test", version: "1.0.0" };
const CAPABILITIES = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } };
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};
type Fields = Record<string, unknown>;
const FIELDS = z.looseObject({});

let fixture: Bundle;
const open: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  fixture = await bundleServer("conformance/fixtures/everything.ts");
});
afterAll(() => fixture?.remove());
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(
  more: { args?: string[]; env?: Record<string, string> } = {},
): Promise<HttpProcess> {
  const args = ["--task-after-ms", "100", ...(more.args ?? [])];
  const server = await startHttp(fixture.file, { ...more, args });
  open.push(() => server.stop("SIGKILL"));
  return server;
}

let nextId = 1;
/** Sends a request of 2026-07-28; the answer may be a stream. */
async function post(
  url: URL,
  method: string,
  params: Fields,
  signal?: AbortSignal,
): Promise<Response> {
  const name = params.taskId ?? params.name;
  const { _meta = META, ...rest } = params;
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: nextId++, method, params: { ...rest, _meta } }),
    ...(signal && { signal }),
  });
}
async function ask(
  url: URL,
  method: string,
  params: Fields,
): Promise<{ result?: Fields; error?: Fields }> {
  return JSON.parse(await (await post(url, method, params)).text());
}
/** Lets a process connect to its database, which takes a while on a busy machine. */
const useStore = ({ url }: HttpProcess) => ask(url, "tasks/get", { taskId: "none" });

async function begin(url: URL, name: string, args: Fields): Promise<string> {
  const { result } = await ask(url, "tools/call", { name, arguments: args });
  expect(result).toMatchObject({ resultType: "task" });
  return String(result?.taskId);
}
async function until(url: URL, taskId: string, status: string): Promise<Fields> {
  let result: Fields = {};
  const reached = async () => {
    result = Object((await ask(url, "tasks/get", { taskId })).result);
    return result.status;
  };
  await expect.poll(reached).toBe(status);
  return result;
}

describe("two processes with one database of tasks", () => {
  let postgres: TestPostgres;
  let url: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
  });
  afterAll(() => postgres?.stop());

  async function startPair(): Promise<{ pair: HttpProcess[]; balancer: Balancer }> {
    const how = { args: ["--task-store-env", "TASKS"], env: { TASKS: url } };
    const pair = await Promise.all([start(how), start(how)]);
    await Promise.all(pair.map(useStore));
    const balancer = await startBalancer(pair.map((one) => one.url));
    open.push(() => balancer.close());
    return { pair, balancer };
  }

  it("answer for each other's tasks: their state, their result, and their end by a client", async () => {
    const { pair, balancer } = await startPair();
    const [first, second] = pair.map((one) => one.url);
    if (first === undefined || second === undefined)
      throw new Error("There are not two processes.");
    const taskId = await begin(first, "slow_compute", { seconds: 3, label: "\u0000 both" });
    const done = await until(second, taskId, "completed");
    expect(done.result).toMatchObject({ content: [{ text: "computed \u0000 both" }] });
    expect(await until(balancer.url, taskId, "completed")).toMatchObject({ result: done.result });

    const cancelled = await begin(first, "slow_compute", { seconds: 60 });
    expect((await ask(second, "tasks/get", { taskId: cancelled })).result).toMatchObject({
      status: "working",
    });
    expect((await ask(second, "tasks/cancel", { taskId: cancelled })).error).toBeUndefined();
    await until(first, cancelled, "cancelled");
    await until(second, cancelled, "cancelled");
  });

  it("pass on the answers to a task's questions, and tell streams of its end", async () => {
    const { pair } = await startPair();
    const [first, second] = pair.map((one) => one.url);
    if (first === undefined || second === undefined)
      throw new Error("There are not two processes.");
    const taskId = await begin(first, "multi_input", {});
    const stop = new AbortController();
    const stream = await post(
      second,
      "subscriptions/listen",
      { notifications: { taskIds: [taskId] } },
      stop.signal,
    );
    const asked = await until(second, taskId, "input_required");
    const inputResponses = Object.fromEntries(
      Object.keys(Object(asked.inputRequests)).map((key, index) => [
        key,
        { action: "accept", content: { name: `Name ${index}` } },
      ]),
    );
    expect(Object.keys(inputResponses)).toHaveLength(2);
    await ask(second, "tasks/update", { taskId, inputResponses });
    expect((await until(first, taskId, "completed")).result).toMatchObject({
      content: [{ text: "Name 0 and Name 1" }],
    });
    let heard = "";
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      heard += decoder.decode(chunk);
      if (heard.includes('"status":"completed"')) break;
    }
    expect(heard).toContain("Name 0 and Name 1");
    stop.abort();
  });

  it("report a task as failed if its process is gone", async () => {
    const { pair } = await startPair();
    const [first, second] = pair;
    if (first === undefined || second === undefined)
      throw new Error("There are not two processes.");
    const taskId = await begin(first.url, "slow_compute", { seconds: 60 });
    await first.stop("SIGKILL");
    // As much later as a process may be silent.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      "UPDATE refmcp_tasks SET renewed = now() - interval '2 minutes' WHERE id = $1",
      [taskId],
    );
    await client.end();
    expect(await until(second.url, taskId, "failed")).toMatchObject({
      error: {
        code: -32_603,
        message: expect.stringContaining("process that ran this task ended"),
      },
    });
  });

  it("go on when the database has been restarted", async () => {
    const own = await startPostgres();
    open.push(() => own.stop());
    const how = { args: ["--task-store-env", "TASKS"], env: { TASKS: await own.createDatabase() } };
    const [first, second] = await Promise.all([start(how), start(how)]);
    await Promise.all([first, second].map(useStore));
    const taskId = await begin(first.url, "slow_compute", { seconds: 60 });
    const finished = await begin(first.url, "slow_compute", { seconds: 4 });
    await own.restart();
    // Its state may have been lost while the database was down, and is stored again.
    await until(second.url, finished, "completed");
    await expect
      .poll(async () => (await ask(second.url, "tasks/cancel", { taskId })).error)
      .toBeUndefined();
    await until(second.url, taskId, "cancelled");
  });

  it("go on with a call without a task if the database cannot be reached", async () => {
    const env = { TASKS: "postgres://nobody:secret-word@127.0.0.1:1/none" };
    const server = await start({ args: ["--task-store-env", "TASKS"], env });
    const { result } = await ask(server.url, "tools/call", {
      name: "slow_compute",
      arguments: { seconds: 1 },
    });
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "computed " }] });
    const { error } = await ask(server.url, "tasks/get", { taskId: "none" });
    expect(error).toMatchObject({ message: expect.stringContaining("did not answer") });
    expect(server.stderr()).not.toContain("secret-word");
  });
});

describe.each(["filesystem", "sqlite"])("the %s server", (name) => {
  it("returns from a task of 2025-11-25 what the call returns", async () => {
    const world = await serverWorld(name);
    open.push(() => world.dispose());
    const server = await startHttp(serverBin(name), world);
    open.push(() => server.stop("SIGKILL"));
    const { client, close } = await connectHttp(server.url, { era: "legacy" });
    open.push(close);
    const { tools } = await client.listTools();
    const reading = tools.find(({ annotations }) => annotations?.readOnlyHint === true);
    const call = {
      name: String(reading?.name),
      arguments: { ...world.calls[String(reading?.name)] },
    };
    const plain = await client.callTool(call);
    const created = await client.request(
      { method: "tools/call", params: { ...call, task: {} } },
      FIELDS,
    );
    const { taskId } = Object(created.task);
    const result = await client.request({ method: "tasks/result", params: { taskId } }, FIELDS);
    const stable = (content: unknown) => world.stable(JSON.stringify(content ?? null));
    expect(stable(result.content)).toBe(stable(plain.content));
    expect(stable(result.structuredContent)).toBe(stable(plain.structuredContent));
  });
});

describe("a query of PostgreSQL that became a task", () => {
  it("is stopped in the database when its client cancels it", async () => {
    const world = await serverWorld("postgres");
    open.push(() => world.dispose());
    const args = [...world.args, "--task-after-ms", "100"];
    const server = await startHttp(serverBin("postgres"), { ...world, args });
    open.push(() => server.stop("SIGKILL"));
    const running = async (): Promise<number> => {
      const sql =
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(47)%' AND pid <> pg_backend_pid()";
      const { result } = await ask(server.url, "tools/call", { name: "query", arguments: { sql } });
      return Object(result).structuredContent.rows[0][0];
    };
    const taskId = await begin(server.url, "query", { sql: "SELECT pg_sleep(47)" });
    await expect.poll(() => running()).toBe(1);
    await ask(server.url, "tasks/cancel", { taskId });
    await expect.poll(() => running()).toBe(0);
    await until(server.url, taskId, "cancelled");
  });
});

describe("an import into SQLite that became a task", () => {
  it("ends with all rows, or with none if its client cancels it", async () => {
    const world = await serverWorld("sqlite");
    open.push(() => world.dispose());
    const [, file = "", , folder = ""] = world.args;
    const lines = Array.from({ length: 200_000 }, (_, at) => `name ${at},city`);
    await writeFile(join(folder, "many.csv"), `name,city\n${lines.join("\n")}\n`);
    const args = [...world.args, "--allow-write", "--task-after-ms", "0"];
    const { url, stop } = await startHttp(serverBin("sqlite"), { ...world, args });
    open.push(() => stop("SIGKILL"));
    const given = { path: "many.csv", table: "users" };
    const cancelled = await begin(url, "import_csv", given);
    // The runner has begun to write when there is a journal.
    await expect.poll(() => existsSync(`${file}-journal`)).toBe(true);
    await ask(url, "tasks/cancel", { taskId: cancelled });
    await until(url, cancelled, "cancelled");
    const { result } = await until(url, await begin(url, "import_csv", given), "completed");
    expect(result).toMatchObject({ structuredContent: { rows: 200_000, committed: true } });
    const query = "SELECT count(*) FROM users WHERE city = 'city'";
    const counted = await until(url, await begin(url, "read_query", { query }), "completed");
    expect(counted.result).toMatchObject({ structuredContent: { rows: [[200_000]] } });
  });
});

describe("the client of the tasks extension's authors", () => {
  it("follows a task of 2026-07-28, and answers its question", async () => {
    const { url } = await start();
    const client = new Client(CLIENT, {
      capabilities: CAPABILITIES,
      versionNegotiation: { mode: { pin: VERSION } },
    });
    await client.connect(new StreamableHTTPClientTransport(url));
    open.push(() => client.close());
    const asked: unknown[] = [];
    const session = createTaskSessionFromClient(client, {
      endpointId: url.href,
      async rawDispatch(request) {
        const { method, params } = Object(request);
        const { result, error } = await ask(url, method, params);
        return error === undefined
          ? { kind: "result", result: Object(result) }
          : { kind: "error", error: Object(error) };
      },
      v2RequestFraming: {
        protocolVersion: VERSION,
        clientInfo: CLIENT,
        clientCapabilities: CAPABILITIES,
      },
      async onInputRequest(request) {
        asked.push(request.kind);
        const answer: unknown = { action: "accept", content: { confirm: true } };
        return answer as never;
      },
    });
    const execution = await session.callTool("confirm_delete", { filename: "a.txt" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "deleted a.txt" }] });
    expect(asked).toEqual(["elicitation"]);
    await session.close();
  });

  it("follows a task of 2025-11-25", async () => {
    const { url } = await start();
    const client = new Client(CLIENT, { capabilities: {}, versionNegotiation: { mode: "legacy" } });
    await client.connect(new StreamableHTTPClientTransport(url));
    open.push(() => client.close());
    const session = createTaskSessionFromClient(client, { endpointId: url.href });
    const execution = await session.callTool("slow_compute", { seconds: 1, label: "old" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: [{ text: "computed old" }] });
    await session.close();
  });
});

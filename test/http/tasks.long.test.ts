import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { type HttpProcess, startHttp } from "@refmcp/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, serverWorld } from "../servers.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { ask, begin, open, post, start, until, useFixture } from "./tasks.ts";

useFixture();

/** Lets a process connect to its database, which takes a while on a busy machine. */
const useStore = ({ url }: HttpProcess) => ask(url, "tasks/get", { taskId: "none" });

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

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ToolError } from "@refmcp/boundary/answer";
import { describe, expect, it } from "vitest";
import { itLong, someOf } from "../../../vitest.long.ts";
import { Pool } from "../src/database/driver/pool.ts";
import { ask, change, ENDLESS, namesIn, rowsOf } from "./asking.ts";
import { enter, runnersOf } from "./lab.ts";
import { talkToProcess } from "./session.ts";

const runnersAlive = async () => (await runnersOf()).length;

/** Whether a process has ended; one that nobody has waited for is still listed. */
const hasEnded = (pid: string) => {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
};

describe.runIf(process.platform === "linux")("idle runners", () => {
  const start = async (file: string, ...args: string[]) => {
    const server = await talkToProcess(["--db-path", file, ...args]);
    await server.data("describe_tables");
    await server.data("read_query", { sql: "SELECT 1" });
    const pid = server.connected.pid ?? 0;
    // For short calls, also for the schema, one is enough.
    const runners = await runnersOf(pid);
    expect(runners).toHaveLength(1);
    return { server, pid, runners };
  };

  itLong("end with a server that was killed", async () => {
    const { server, pid, runners } = await start((await enter()).file);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => runners.every(hasEnded)).toBe(true);
    await server.close();
  });

  it("end with a server that was killed during a statement, and so does the one that runs it", async () => {
    const { server, pid } = await start((await enter()).file, "--query-timeout-ms", "3600000");
    const call = server.call("read_query", { sql: ENDLESS }).catch(() => undefined);
    // Its answer comes from another runner, after the first one got its statement.
    await server.data("read_query", { sql: "SELECT 2" });
    const runners = await runnersOf(pid);
    expect(runners).toHaveLength(2);
    process.kill(pid, "SIGKILL");
    await call;
    await expect.poll(() => runners.every(hasEnded)).toBe(true);
    await server.close();
  });

  it("end with a server that died right after it sent a statement, before they could report it", async () => {
    const { file } = await enter();
    const statements = [{ sql: ENDLESS, params: [] }];
    const message = { op: "look", job: { place: { file }, statements, isTolerant: false } };
    const script = `
      const { fork } = require("node:child_process");
      const [, runner, watchdog, message] = process.argv;
      const args = [watchdog, "400", String(process.pid)];
      const stdio = ["ignore", "ignore", "ignore", "ipc"];
      const child = fork(runner, args, { serialization: "advanced", stdio });
      child.once("message", () => child.send(JSON.parse(message), () => process.exit()));
      console.log(child.pid);`;
    const built = (name: string) =>
      fileURLToPath(new URL(`../dist/${name}.worker.js`, import.meta.url));
    const args = ["-e", script, built("runner"), built("watchdog"), JSON.stringify(message)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    await expect.poll(() => hasEnded(stdout.trim())).toBe(true);
  });
});

describe("endless queries", () => {
  it("don't block the schema, and others wait for a limited time and get the reason", async () => {
    const here = await enter({ timeoutMs: 60_000 });
    const runners = new Pool({ memory: 400, max: 2, waitMs: 1_000 });
    const page = { cellBytes: 100, skip: 0, chars: 1_000, rows: 1 };
    const controller = new AbortController();
    const { signal } = controller;
    const run = (sql: string, by = signal) =>
      runners.run(
        "read",
        { place: here.place, sql, params: [], format: "rows", ...page },
        { signal: by, timeoutMs: 60_000 },
      );
    const endless = [run(ENDLESS), run(ENDLESS)].map((query) =>
      query.catch((error: unknown) => error),
    );
    const other = new AbortController();
    await expect(run("SELECT 1", other.signal)).rejects.toMatchObject({
      kind: "unavailable",
      message: "2 other statements have been running for 1 s.",
    });
    expect(await namesIn(here)).toHaveLength(2);
    const waiting = run("SELECT 2", other.signal);
    controller.abort(new Error("stop"));
    expect(await waiting).toMatchObject({ text: "[2]" });
    expect(await Promise.all(endless)).toMatchObject([{ message: "stop" }, { message: "stop" }]);
    runners.close();
  });
});

describe("jobs next to one that takes long", () => {
  it("are answered by other runners: 100 in flight, one of them endless", async () => {
    const here = await enter({ timeoutMs: 60_000 });
    await ask(here, "SELECT 0");
    const controller = new AbortController();
    const stuck = ask(here, ENDLESS, { signal: controller.signal });
    const others = await Promise.all(
      Array.from({ length: 99 }, (_, at) => ask(here, `SELECT ${at}`)),
    );
    expect(others.map(({ rows }) => rows?.[0]?.[0])).toEqual(
      Array.from({ length: 99 }, (_, at) => at),
    );
    controller.abort(new Error("enough"));
    await expect(stuck).rejects.toThrow("enough");
  });

  it.each(
    someOf(3, [
      ["its time limit", {}, 200, ENDLESS, "timeout"],
      // Less than it takes to report which job is running.
      ["a short time limit", {}, 10, ENDLESS, "timeout"],
      [
        "its memory limit",
        { memory: 150 },
        20_000,
        "SELECT hex(randomblob(300000000))",
        "too_large",
      ],
    ] as const),
  )("are answered when %s ends the process", async (_why, options, timeoutMs, sql, kind) => {
    const here = await enter(options);
    await ask(here, "SELECT 0");
    const answers = [1, 2, sql, 4, 5].map((what, at) =>
      (at === 2 ? ask(here, sql, { timeoutMs }) : ask(here, `SELECT ${what}`)).then(
        ({ rows }) => rows?.[0]?.[0],
        (error: ToolError) => error.kind,
      ),
    );
    expect(await Promise.all(answers)).toEqual([1, 2, kind, 4, 5]);
  });

  const slow =
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 300000) SELECT max(n) FROM t";
  /** A lab with one runner that has nothing to do. */
  const withRunner = async () => {
    await expect.poll(runnersAlive).toBe(0);
    const here = await enter();
    await ask(here, "SELECT 0");
    const [pid = ""] = await runnersOf();
    return { here, pid };
  };

  it.runIf(process.platform === "linux")("run again if the process is killed", async () => {
    const { here, pid } = await withRunner();
    const reads = [1, 2, 3].map(() => ask(here, slow));
    await new Promise(setImmediate);
    process.kill(Number(pid), "SIGKILL");
    expect((await Promise.all(reads)).map(({ rows }) => rows)).toEqual([
      [[300000]],
      [[300000]],
      [[300000]],
    ]);
  });

  it.runIf(process.platform === "linux")("don't run again if they write", async () => {
    const { here, pid } = await withRunner();
    const write = change(here, `INSERT INTO users (name) ${slow.replace("max(n)", "'x'")}`);
    const failed = expect(write).rejects.toMatchObject({
      kind: "unavailable",
      hint: expect.stringContaining("see list_database_changes before you repeat"),
    });
    const more = [1, 2].map((n) => ask(here, `SELECT ${n}`));
    await expect.poll(() => existsSync(`${here.file}-journal`), { interval: 5 }).toBe(true);
    process.kill(Number(pid), "SIGKILL");
    expect((await Promise.all(more)).map((answer) => answer.rows)).toEqual([[[1]], [[2]]]);
    await failed;
    await (await here.databases.at()).recover();
    expect(await rowsOf(here, "SELECT count(*) FROM users")).toEqual([[3]]);
  });
});

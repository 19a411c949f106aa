import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { connectStdio } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { Runners } from "../src/database/connection/runners.ts";
import { listTables } from "../src/database/reading/catalog.ts";
import { ask, ENDLESS, labs } from "./asking.ts";

const enter = labs();

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/** The runners that a process has started, by default this one. */
async function runnersOf(parent = process.pid): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const isTheirs = / [^Z] (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] === String(parent);
      return isTheirs && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("runner");
    } catch {
      return false;
    }
  });
}

const runnersAlive = async () => (await runnersOf()).length;

/** Whether a process has ended; one that nobody has waited for is still listed. */
const hasEnded = (pid: string) => {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
};

/** How often the threads of a process have slept and woken. */
function wakeUps(pid: string): number {
  let count = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    count += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
  }
  return count;
}

describe.runIf(process.platform === "linux")("idle runners", () => {
  const start = async (file: string, ...args: string[]) => {
    const server = await connectStdio(BIN, { args: ["--db-path", file, ...args] });
    for (const [name, query] of [["list_tables"], ["read_query", "SELECT 1"]] as const)
      await server.client.callTool({ name, arguments: query === undefined ? {} : { query } });
    const { pid } = server;
    if (pid === undefined) throw new Error("no server");
    await expect.poll(async () => (await runnersOf(pid)).length).toBe(3);
    return { server, pid, runners: await runnersOf(pid) };
  };

  it("sleep: no timer polls", async () => {
    const { server, runners } = await start((await enter()).file);
    // Node.js itself has work for a moment after a start.
    const inASecond = async () => {
      const before = runners.map(wakeUps);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return Math.max(...runners.map((pid, at) => wakeUps(pid) - (before[at] ?? 0)));
    };
    await expect.poll(inASecond, { timeout: 30_000 }).toBeLessThan(10);
    await server.close();
  });

  it("end with a server that was killed", async () => {
    const { server, pid, runners } = await start((await enter()).file);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => runners.every(hasEnded)).toBe(true);
    await server.close();
  });

  it("end with a server that was killed during a statement, and so does the one that runs it", async () => {
    const { server, pid, runners } = await start((await enter()).file, "--query-timeout-ms", "3600000");
    const read = (query: string) => server.client.callTool({ name: "read_query", arguments: { query } });
    const call = read(ENDLESS).catch(() => undefined);
    // Its answer comes from another runner, after the first one got its statement.
    await read("SELECT 2");
    process.kill(pid, "SIGKILL");
    await call;
    await expect.poll(() => runners.every(hasEnded)).toBe(true);
    await server.close();
  });

  it("end after a while without a job, and the next job starts another", async () => {
    const here = await enter();
    const before = await runnersAlive();
    const runners = new Runners({ memory: 400, max: 2, idleMs: 50 });
    const run = { signal: new AbortController().signal, timeoutMs: 60_000 };
    for (let round = 0; round < 2; round++) {
      await runners.run("version", { place: here.place }, run);
      await expect.poll(async () => (await runnersAlive()) - before).toBe(0);
    }
    runners.close();
  });
});

describe.runIf(process.platform === "linux")("a burst of calls", () => {
  it("starts at most two processes and a spare, and one for the schema", async () => {
    const here = await enter();
    const before = await runnersAlive();
    let most = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        most = Math.max(most, (await runnersAlive()) - before);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const { signal } = new AbortController();
    await Promise.all(
      Array.from({ length: 64 }, (_, at) =>
        at % 8 === 0 ? listTables({ databases: here.databases, signal }) : ask(here, `SELECT ${at}`),
      ),
    );
    isOver = true;
    await watching;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    await expect.poll(async () => (await runnersAlive()) - before).toBeLessThanOrEqual(4);
  });
});

describe("endless queries", () => {
  it("don't block the schema, and others wait for a limited time and get the reason", async () => {
    const here = await enter({ timeoutMs: 60_000 });
    const runners = new Runners({ memory: 400, max: 2, waitMs: 300 });
    const controller = new AbortController();
    const { signal } = controller;
    const run = (sql: string, by = signal) =>
      runners.run(
        "read",
        {
          place: here.place,
          sql,
          params: [],
          cellBytes: 100,
          format: "rows",
          skip: 0,
          chars: 1_000,
          rows: 1,
          ms: 0,
          blobs: undefined,
        },
        { signal: by, timeoutMs: 60_000 },
      );
    const endless = [run(ENDLESS), run(ENDLESS)].map((one) => one.catch((error: unknown) => error));
    const other = new AbortController();
    await expect(run("SELECT 1", other.signal)).rejects.toMatchObject({
      kind: "unavailable",
      message: "2 other statements have been running for 0.3 s.",
    });
    expect(await listTables({ databases: here.databases, signal })).toHaveLength(2);
    const waiting = run("SELECT 2", other.signal);
    controller.abort(new Error("stop"));
    expect(await waiting).toMatchObject({ text: "[2]" });
    expect(await Promise.all(endless)).toMatchObject([{ message: "stop" }, { message: "stop" }]);
    runners.close();
  });
});

it("a sort counts as memory instead of filling the disk", async () => {
  const here = await enter({ memory: 150 });
  const sql = `WITH RECURSIVE t(n, x) AS (SELECT 1, hex(randomblob(500)) UNION ALL SELECT n + 1, hex(randomblob(500)) FROM t WHERE n < 400000)
    SELECT x FROM t ORDER BY x LIMIT 1 OFFSET 300000`;
  await expect(ask(here, sql)).rejects.toMatchObject({ kind: "too_large" });
});

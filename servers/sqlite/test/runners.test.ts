import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { Runners } from "../src/database/connection/runners.ts";
import { listTables } from "../src/database/reading/tables.ts";
import { ask, ENDLESS, labs } from "./asking.ts";

const enter = labs();

/** The number of runners that this process has started. */
async function runnersAlive(): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const isOurs =
        / \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] === String(process.pid);
      return isOurs && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("runner");
    } catch {
      return false;
    }
  }).length;
}

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
        {
          op: "read",
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

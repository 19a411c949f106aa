import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { change, changesIn, undo } from "./asking.ts";
import { enter, type Lab, runnersOf } from "./lab.ts";
import { talkToProcess } from "./session.ts";

/** How often a server is killed. */
const ROUNDS = isLong ? 12 : 4;
const COUNTER =
  "CREATE TABLE counter (id INTEGER PRIMARY KEY, n INT); INSERT INTO counter VALUES (1, 0)";

const counted = ({ file }: Lab) => {
  const database = new Sqlite(file, { timeout: 60_000 });
  const n = database.prepare("SELECT n FROM counter").pluck().get();
  database.close();
  return n;
};

/** Undoes all changes, newest first; returns how many were undone, and how many turned out never to have been committed. */
async function undoAll({ databases, ...here }: Lab) {
  const changes = await changesIn({ databases });
  const counts = { undone: 0, never: 0 };
  for (const { id, isPending } of changes) {
    try {
      await undo({ databases, ...here }, id);
      counts.undone += 1;
    } catch (error) {
      expect(isPending).toBe(true);
      expect(String(error)).toContain("was never committed, so there is nothing to undo");
      counts.never += 1;
    }
  }
  return counts;
}

describe("a server that is killed", () => {
  it("has recorded every change that was committed, whenever it is killed", async () => {
    const here = await enter({ sql: COUNTER });
    const args = ["--db-path", here.file, "--undo-dir", here.state, "--allow-write"];
    for (let round = 0; round < ROUNDS; round++) {
      const server = await talkToProcess(args);
      const pid = server.connected.pid ?? 0;
      const write = () => server.call("write_query", { query: "UPDATE counter SET n = n + 1" });
      await write();
      let isAlive = true;
      const calls = (async () => {
        while (isAlive) await write();
      })().catch(() => undefined);
      // Any moment of a change: later in each round.
      const kill = new Promise<void>((resolve) => {
        setTimeout(
          () => {
            isAlive = false;
            process.kill(pid, "SIGKILL");
            resolve();
          },
          5 + round * (8.4 / ROUNDS),
        );
      });
      await Promise.all([kill, calls]);
      await server.close();
      // The runner outlives its server, and may commit what it was sent.
      await expect.poll(() => runnersOf(pid)).toEqual([]);
    }
    const n = counted(here);
    expect(n).toBeGreaterThanOrEqual(ROUNDS);
    expect((await undoAll(here)).undone).toBe(n);
    expect(counted(here)).toBe(0);
  });

  it.each([
    ["is undone if the change was committed", undefined, { undone: 1, never: 0 }],
    ["has nothing to undo if not", "UPDATE counter SET n = 0", { undone: 0, never: 1 }],
  ])("leaves a pending record, which %s", async (_, rolledBack, counts) => {
    const here = await enter({ sql: COUNTER });
    const { change_id: id } = await change(here, "UPDATE counter SET n = 5");
    const [directory = ""] = await readdir(join(here.state, "changes"));
    const file = (ending: string) => join(here.state, "changes", directory, `${id}.${ending}`);
    await rename(file("change"), file("pending"));
    expect(await changesIn(here)).toMatchObject([{ id, isPending: true }]);
    const database = new Sqlite(here.file);
    database.exec(rolledBack ?? "");
    database.close();
    expect(await undoAll(here)).toEqual(counts);
    expect(counted(here)).toBe(0);
  });
});

it("two servers write at the same time, and all their changes can be undone", async () => {
  const here = await enter({ sql: COUNTER });
  const args = ["--db-path", here.file, "--undo-dir", here.state, "--allow-write"];
  const servers = await Promise.all([1, 2].map(() => talkToProcess(args)));
  const calls = servers.flatMap((server) =>
    Array.from({ length: 15 }, async () => {
      const query = "UPDATE counter SET n = n + 1";
      const { text, isError } = await server.call("write_query", { query });
      // On a slow machine it may take too long to get the lock, or a turn, which is reported.
      if (isError) expect(text).toMatch(/has locked|other statements have been running/);
      return isError ? 0 : 1;
    }),
  );
  const count = (await Promise.all(calls)).reduce<number>((sum, done) => sum + done, 0);
  await Promise.all(servers.map((server) => server.close()));
  expect(counted(here)).toBe(count);
  // Ids sort by the time at which a change began, so two of them may have been committed the other way around.
  for (let openCount = -1; openCount !== 0; ) {
    const open = (await changesIn(here)).filter(
      ({ undoneBy, undoes }) => undoneBy === undefined && undoes === undefined,
    );
    expect(open.length).not.toBe(openCount);
    openCount = open.length;
    for (const { id } of open) await undo(here, id).catch(() => undefined);
  }
  expect(counted(here)).toBe(0);
});

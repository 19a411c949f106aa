import { once } from "node:events";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { searchNodes } from "../src/graph/search/search.ts";
import { startServer } from "./process.ts";
import { sqlite, temporary } from "./temporary.ts";

/** `npm test` makes fewer tries. */
const WRITERS = isLong ? 4 : 2;
const WRITES = isLong ? 500 : 50;
const KILLS = isLong ? 100 : 5;
/** How many of the kills are while the file is being created. */
const EARLY_KILLS = isLong ? 20 : 1;

let file = "";
beforeEach(async () => {
  file = join(await temporary(), "memory.db");
});

const person = (name: string) => ({
  entities: [{ name, entityType: "person", observations: [`is ${name}`] }],
});

/** The names in the file, read with a separate connection. */
async function namesKept(): Promise<Set<string>> {
  const store = await sqlite(file);
  const rows = await store.read(({ connection }) =>
    connection.all<{ name: string }>("SELECT name FROM entities"),
  );
  return new Set(rows.map(({ name }) => name));
}

describe("no acknowledged write is lost", () => {
  it("by twenty concurrent calls in one process (the official server keeps one of them)", async () => {
    const server = await startServer(["--file", file]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => server.call("create_entities", person(`p${index}`))),
    );
    expect(answers.filter(({ isError }) => isError)).toEqual([]);
    await server.stop();
    expect((await namesKept()).size).toBe(20);
  });

  it("by processes that write at the same time", async () => {
    const servers = await Promise.all(
      Array.from({ length: WRITERS }, () => startServer(["--file", file])),
    );
    await Promise.all(
      servers.map(async (server, process) => {
        for (let index = 0; index < WRITES; index++) {
          const { isError, text } = await server.call(
            "create_entities",
            person(`p${process}-${index}`),
          );
          expect(isError, text).toBe(false);
        }
      }),
    );
    await Promise.all(servers.map((server) => server.stop()));
    expect((await namesKept()).size).toBe(WRITERS * WRITES);
  });

  it("by kills during writes", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      const server = await startServer(["--file", file]);
      const killIn = (milliseconds: number) =>
        setTimeout(() => server.child.kill("SIGKILL"), milliseconds);
      // The first rounds are killed while the file is being created, the others during writes after some acknowledged ones.
      const sure = round < EARLY_KILLS ? 0 : 1 + (round % 8);
      if (sure === 0) killIn(isLong ? round * 2 : 20);
      try {
        for (let index = 0; ; index++) {
          if (sure > 0 && index === sure) killIn(round % 10);
          const name = `r${round}-${index}`;
          const { isError, text } = await server.call("create_entities", person(name));
          expect(isError, text).toBe(false);
          acknowledged.push(name);
        }
      } catch (error) {
        if (!String(error).includes("went away")) throw error;
      }
      if (server.child.exitCode === null && server.child.signalCode === null)
        await once(server.child, "exit");
      expect(server.child.signalCode).toBe("SIGKILL");
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS - EARLY_KILLS);
    const names = await namesKept();
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    // Index and rows agree: acknowledged writes are also found, and the file is intact.
    const store = await sqlite(file);
    const last = acknowledged.at(-1) ?? "";
    expect(
      (await searchNodes(store, { query: last, limit: 5, budget: 20_000 })).entities,
    ).toMatchObject([{ name: last }]);
    const { default: Sqlite } = await import("better-sqlite3");
    const db = new Sqlite(file);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    db.close();
  }, 900_000);
});

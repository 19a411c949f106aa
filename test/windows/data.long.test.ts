import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Session } from "./inside/tools.ts";
import { bundledBin, type Line, onZ, START_MS, windows } from "./wine.ts";

const FOLDER = "C:\\Müllers Daten 1";

/** Each call in a new process, with the same file. */
const STARTS = {
  memory: {
    args: ["--file", `${FOLDER}\\My Memory.db`],
    calls: [
      {
        name: "create_entities",
        arguments: {
          entities: [{ name: "Zoë", entityType: "person", observations: ["lives in Köln"] }],
        },
      },
      { name: "open_nodes", arguments: { names: ["Zoë"] } },
    ],
    answerText: "lives in Köln",
  },
  sqlite: {
    args: [
      "--db-path",
      `${FOLDER}\\Größe 1.db`,
      "--undo-dir",
      `${FOLDER}\\Undo Ü`,
      "--allow-write",
      "--allow-ddl",
    ],
    calls: [
      { name: "execute", arguments: { statements: ["CREATE TABLE t (a)"] } },
      { name: "execute", arguments: { statements: ["INSERT INTO t VALUES ('Grüße')"] } },
      { name: "execute", arguments: { statements: ["DELETE FROM t WHERE a = 'Grüße'"] } },
      { name: "undo_database_change", arguments: { change_id: "CHANGE" } },
      { name: "read_query", arguments: { query: "SELECT a FROM t" } },
    ],
    answerText: "Grüße",
  },
} as const;

describe.each(["memory", "sqlite"] as const)("the %s server with a file on Windows", (server) => {
  const { args, calls, answerText } = STARTS[server];
  let lines: readonly Line[] = [];

  beforeAll(async () => {
    const there = await windows();
    await mkdir(join(there.driveC, "Müllers Daten 1"), { recursive: true });
    const start = { server, bin: onZ(await bundledBin(server)), env: {}, args } as const;
    const sessions = calls.map((call, index): Session => {
      return { ...start, era: index === 0 ? "legacy" : "modern", calls: [call] };
    });
    lines = await there.run("tools", { sessions, ends: [] });
  }, START_MS);

  it("keeps what it stored, also where the path has spaces and other letters", () => {
    const answers = lines.filter(({ event }) => event === "call");
    expect(answers).toMatchObject(calls.map(({ name }) => ({ name, isError: false })));
    expect(JSON.stringify(answers.at(-1))).toContain(answerText);
  });
});

describe("--http unix: on Windows", () => {
  let lines: readonly Line[] = [];
  beforeAll(async () => {
    const there = await windows();
    lines = await there.run("pipe", { bin: onZ(await bundledBin("fetch")), args: [] });
  }, START_MS);

  it("listens on a named pipe", () => {
    expect(lines[0]).toEqual({
      about: "pipe",
      url: "unix:\\\\.\\pipe\\refmcp-test",
      answer: '{"status":"ok"}',
    });
  });
});

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPathGuard, DirectoryAllowlist, type PathGuard } from "@refmcp/boundary";
import { ChangeStore, exportRows, importCsv } from "@refmcp/sql";
import { fakeCall } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sessions } from "../src/database/driver/sessions.ts";
import { openDatabases } from "../src/database/open.ts";
import { labFor } from "./session.ts";

const run = promisify(execFile);
const here = labFor("CREATE TABLE items (id int PRIMARY KEY, name text, note text)");
let folder: string;
let guard: PathGuard;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-transfer-"));
  guard = createPathGuard(
    new DirectoryAllowlist({ configured: [{ path: folder, source: "argument" }], mode: "off" }),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A database with a short limit of a statement. */
async function withLimit<Value>(
  timeoutMs: number,
  use: (databases: ReturnType<typeof databasesOn>, sessions: Sessions) => Promise<Value>,
) {
  const databases = databasesOn(timeoutMs);
  try {
    return await use(databases, (await databases.at()).sessions);
  } finally {
    await databases.close();
  }
}

const databasesOn = (timeoutMs: number) =>
  openDatabases({
    url: here.url,
    named: [],
    embedded: undefined,
    env: {},
    log: () => undefined,
    guard,
    changes: new ChangeStore({
      directories: [],
      allowed: new DirectoryAllowlist({ configured: [], mode: "off" }),
      enabled: false,
      days: 1,
    }),
    work: {
      timeoutMs,
      maxConnections: 3,
      allowPrivilegedRole: false,
      allowAdmin: false,
      allowFunction: ["pg_sleep", "wait"],
    },
  });

const exporting = (databases: ReturnType<typeof databasesOn>, sql: string, more = {}) =>
  exportRows(
    databases,
    { sql, params: [], path: "out.csv" },
    { signal: new AbortController().signal, progress: () => undefined, ...more },
  );
const importing = (
  databases: ReturnType<typeof databasesOn>,
  path: string,
  call: Parameters<typeof importCsv>[2] = fakeCall(),
) => importCsv(databases, { path, table: "items", delimiter: ",", dryRun: false }, call);
const count = async () => (await here.admin("SELECT count(*)::int AS n FROM items"))[0]?.["n"];

describe("the time limit", () => {
  it("is that without progress: an export may take longer", async () => {
    // 40 rows with 0.08 s each, larger than PostgreSQL's buffer: longer than the limit, with far shorter pauses.
    const rows = "SELECT n, repeat('x', 10000) AS x, pg_sleep(0.08) FROM generate_series(1, 40) n";
    await withLimit(2_000, async (databases) => {
      const { path, rows: written } = await exporting(databases, rows);
      expect(written).toBe(40);
      expect(await readFile(path, "utf8")).toHaveLength(
        "n,x,pg_sleep\n".length + 9 * 10_006 + 31 * 10_007,
      );
      await rm(path);
    });
  });

  it("ends an export without rows, and leaves no file", async () => {
    await withLimit(300, async (databases, sessions) => {
      const stopped = exporting(databases, "SELECT pg_sleep(600)");
      await expect(stopped).rejects.toMatchObject({
        kind: "timeout",
        message: expect.stringContaining("progress"),
      });
      // The limit of other statements is unchanged.
      const query = sessions.rows({ signal: new AbortController().signal }, "SELECT pg_sleep(600)");
      await expect(query).rejects.toMatchObject({ kind: "timeout" });
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it("does not end an import whose keys and triggers are checked after the last row", async () => {
    await here.admin(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.5); RETURN NULL; END';
      CREATE TRIGGER waiting AFTER INSERT ON items FOR EACH STATEMENT EXECUTE FUNCTION wait()`);
    await writeFile(join(folder, "in.csv"), "id,name\n1,Ada\n");
    await withLimit(1_500, async (databases) => {
      expect(await importing(databases, "in.csv")).toMatchObject({ rows: 1, committed: true });
    });
    await here.admin("DROP TRIGGER waiting ON items; DELETE FROM items");
    await rm(join(folder, "in.csv"));
  });
});

describe("a cancelled transfer", () => {
  it("leaves neither a file nor a row, and the connection works", async () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `${at},"name ""${at}""",\n`);
    await writeFile(join(folder, "in.csv"), `id,name,note\n${lines.join("")}`);
    await withLimit(20_000, async (databases) => {
      const call = fakeCall();
      const cancelling = {
        signal: call.signal,
        confirm: call.confirm,
        progress: (done: number) => void (done > 1_000_000 && call.cancel()),
      };
      await expect(importing(databases, "in.csv", cancelling)).rejects.toMatchObject({
        kind: "cancelled",
      });
      expect(await count()).toBe(0);
      expect(
        await importing(databases, "in.csv", call.signal.aborted ? fakeCall() : call),
      ).toMatchObject({
        rows: 200_000,
      });
      const controller = new AbortController();
      const stop = {
        signal: controller.signal,
        progress: () => controller.abort(new Error("enough")),
      };
      await expect(exporting(databases, "SELECT * FROM items", stop)).rejects.toThrow("enough");
      expect(await readdir(folder)).toEqual(["in.csv"]);
      const { path } = await exporting(databases, "SELECT * FROM items ORDER BY id");
      expect(await readFile(path, "utf8")).toBe(await readFile(join(folder, "in.csv"), "utf8"));
    });
    await here.admin("TRUNCATE items");
    for (const name of ["in.csv", "out.csv"]) await rm(join(folder, name));
  });
});

it("exports a row that is too large for an answer", async () => {
  const rows = "SELECT repeat('x', 70000000) AS x";
  await withLimit(20_000, async (databases, sessions) => {
    const { path, bytes } = await exporting(databases, rows);
    expect(bytes).toBe(70_000_003);
    await rm(path);
    const answer = sessions.work({ signal: new AbortController().signal }, (session) =>
      session.query({ text: rows, params: [] }, { chars: 1_000 }),
    );
    await expect(answer).rejects.toMatchObject({
      kind: "too_large",
      message: "One row is 67 MiB, which is too large to read.",
      hint: expect.stringContaining("left(column, 1000)"),
    });
  });
});

it.runIf(process.platform === "linux")(
  "an export to a full disk leaves no file and says why",
  async (ctx) => {
    await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).catch(() =>
      ctx.skip("needs root"),
    );
    try {
      await withLimit(20_000, async (databases, sessions) => {
        const rows = "SELECT repeat('x', 1000) FROM generate_series(1, 100000)";
        await expect(exporting(databases, rows)).rejects.toMatchObject({
          kind: "unavailable",
          code: "enospc",
        });
        expect(await readdir(folder)).toEqual([]);
        await expect(
          sessions.rows({ signal: new AbortController().signal }, "SELECT 1 AS n"),
        ).resolves.toEqual([{ n: 1 }]);
      });
    } finally {
      await run("umount", ["--lazy", folder]);
    }
  },
);

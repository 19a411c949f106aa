import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist, type PathGuard } from "@refmcp/boundary";
import { ChangeStore, exportRows, importCsv } from "@refmcp/sql";
import { smallDisk } from "@refmcp/sql/testing";
import { fakeCall } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openDatabases } from "../src/database/open.ts";
import { labFor } from "./session.ts";

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
async function withLimit(timeoutMs: number) {
  const databases = openDatabases({
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
  onTestFinished(async () => void (await databases.close()));
  const csv = { path: "in.csv", table: "items", delimiter: ",", dryRun: false };
  return {
    sessions: (await databases.at()).sessions,
    exporting: (sql: string, call: Parameters<typeof exportRows>[2] = fakeCall()) =>
      exportRows(databases, { sql, params: [], path: "out.csv" }, call),
    importing: (call: Parameters<typeof importCsv>[2] = fakeCall()) =>
      importCsv(databases, csv, call),
  };
}

const signal = new AbortController().signal;

describe("the time limit", () => {
  it("is that without progress: an export may take longer", async () => {
    // 40 rows with 0.08 s each, larger than PostgreSQL's buffer: longer than the limit, with far shorter pauses.
    const rows = "SELECT n, repeat('x', 10000) AS x, pg_sleep(0.08) FROM generate_series(1, 40) n";
    const { exporting } = await withLimit(2_000);
    const { path, rows: written, bytes } = await exporting(rows);
    expect([written, bytes]).toEqual([40, "n,x,pg_sleep\n".length + 9 * 10_006 + 31 * 10_007]);
    await rm(path);
  });

  it("ends an export without rows, and leaves no file", async () => {
    const { exporting, sessions } = await withLimit(300);
    const message = expect.stringContaining("progress");
    const stopped = exporting("SELECT pg_sleep(600)");
    await expect(stopped).rejects.toMatchObject({ kind: "timeout", message });
    // The limit of other statements is unchanged.
    const query = sessions.rows({ signal }, "SELECT pg_sleep(600)");
    await expect(query).rejects.toMatchObject({ kind: "timeout" });
    expect(await readdir(folder)).toEqual([]);
  });

  it("does not end an import whose keys and triggers are checked after the last row", async () => {
    await here.admin(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2.5); RETURN NULL; END';
      CREATE TRIGGER waiting AFTER INSERT ON items FOR EACH STATEMENT EXECUTE FUNCTION wait()`);
    await writeFile(join(folder, "in.csv"), "id,name\n1,Ada\n");
    const { importing } = await withLimit(1_500);
    expect(await importing()).toMatchObject({ rows: 1, committed: true });
    await here.admin("DROP TRIGGER waiting ON items; DELETE FROM items");
    await rm(join(folder, "in.csv"));
  });
});

describe("a cancelled transfer", () => {
  it("leaves neither a file nor a row, and the connection works", async () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `${at},"name ""${at}""",\n`);
    await writeFile(join(folder, "in.csv"), `id,name,note\n${lines.join("")}`);
    const { exporting, importing } = await withLimit(20_000);
    const stopping = () => {
      const call = fakeCall();
      return { ...call, progress: (done: number) => void (done > 1_000_000 && call.cancel()) };
    };
    await expect(importing(stopping())).rejects.toMatchObject({ kind: "cancelled" });
    expect(await here.admin("SELECT count(*)::int AS n FROM items")).toEqual([{ n: 0 }]);
    expect(await importing()).toMatchObject({ rows: 200_000 });
    const all = "SELECT * FROM items ORDER BY id";
    await expect(exporting(all, stopping())).rejects.toMatchObject({ kind: "cancelled" });
    expect(await readdir(folder)).toEqual(["in.csv"]);
    const { path } = await exporting(all);
    expect(await readFile(path, "utf8")).toBe(await readFile(join(folder, "in.csv"), "utf8"));
    await here.admin("TRUNCATE items");
    for (const name of ["in.csv", "out.csv"]) await rm(join(folder, name));
  });
});

it("exports a row that is too large for an answer", async () => {
  const rows = "SELECT repeat('x', 70000000) AS x";
  const { exporting, sessions } = await withLimit(20_000);
  const { path, bytes } = await exporting(rows);
  expect(bytes).toBe(70_000_003);
  await rm(path);
  const answer = sessions.work({ signal }, (session) =>
    session.query({ text: rows, params: [] }, { chars: 1_000 }),
  );
  await expect(answer).rejects.toMatchObject({
    kind: "too_large",
    message: "One row is 67 MiB, which is too large to read.",
    hint: expect.stringContaining("left(column, 1000)"),
  });
});

it.runIf(process.platform === "linux")(
  "an export to a full disk leaves no file and says why",
  async (ctx) => {
    await smallDisk(ctx, folder);
    const { exporting, sessions } = await withLimit(20_000);
    const rows = "SELECT repeat('x', 1000) FROM generate_series(1, 100000)";
    const full = { kind: "unavailable", code: "enospc" };
    await expect(exporting(rows)).rejects.toMatchObject(full);
    expect(await readdir(folder)).toEqual([]);
    expect(await sessions.rows({ signal }, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
  },
);

import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scripted } from "../scripted.ts";
import { readTasks } from "./benchmark.ts";
import { type Outcome, PublicRun, type RunOptions, type Solution } from "./run.ts";

let checkout: string;
/** Replaces Python: runs the scripts of this made-up benchmark, which are JavaScript. */
let python: string;

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), "refmcp-made-up-benchmark-"));
  python = join(checkout, "python");
  const client = JSON.stringify(createRequire(import.meta.url).resolve("pg"));
  await file(
    "python",
    `#!${process.execPath}
    const { Client } = require(${client});
    const { POSTGRES_HOST: host, POSTGRES_PORT: port, POSTGRES_USERNAME: user, POSTGRES_PASSWORD: password, POSTGRES_DATABASE: database } = process.env;
    globalThis.sql = async (text) => {
      const client = new Client({ host, port: Number(port), user, password, database });
      await client.connect();
      const { rows } = await client.query(text).finally(() => client.end());
      return rows;
    };
    globalThis.judge = (right, complaint) => { console.log(right ? "PASS" : "❌ " + complaint); process.exit(right ? 0 : 1); };
    if (process.argv[2] !== "-c") require(process.argv[2]);`,
  );
  await chmod(python, 0o755);
  await file("test_environments/notes/note.txt", "a note\n");

  const copied = `const { existsSync } = require("node:fs");
    judge(existsSync(process.env.FILESYSTEM_TEST_DIR + "/copy.txt"), "copy.txt is missing");`;
  await task("filesystem/easy/notes/copied", copied);
  await task("filesystem/easy/notes/copied_elsewhere", copied);
  await task("filesystem/easy/notes/refused", copied);
  await task("filesystem/easy/notes/unsolved", copied);
  await task("filesystem/easy/notes/nothing_to_do", "judge(true)");
  await task("filesystem/standard/photos/sorted", "judge(true)", {
    stateUrl: "https://example.com/photos.zip",
    stateOriginalUrl: "https://example.org/photos",
  });
  await task(
    "postgres/easy/shop/paid",
    'sql("SELECT paid FROM orders").then(([order]) => judge(order.paid, "the order is not paid"));',
  );
  await file(
    "tasks/postgres/easy/shop/paid/prepare_environment.py",
    'sql("CREATE TABLE orders AS SELECT 1 AS id, false AS paid; CREATE ROLE clerk");',
  );
  await task("postgres/easy/museum/opened", "judge(true)");
});
afterAll(() => rm(checkout, { recursive: true, force: true }));

async function file(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(checkout, path)), { recursive: true });
  await writeFile(join(checkout, path), content);
}

async function task(id: string, verifier: string, data: object = {}): Promise<void> {
  const [, , category] = id.split("/");
  await file(`tasks/${id}/description.md`, `Do ${id}.`);
  await file(`tasks/${id}/meta.json`, JSON.stringify({ category_id: category, meta_data: data }));
  await file(`tasks/${id}/verify.py`, verifier);
}

const copy =
  (destination: string): Solution =>
  async (call) => {
    const [, path = ""] = /(note\.txt)/.exec(await call("list_directory", { path: "." })) ?? [];
    await call("copy_file", { source: path, destination });
  };

const solutions: Readonly<Record<string, Solution>> = {
  "filesystem/easy/notes/copied": copy("copy.txt"),
  "filesystem/easy/notes/copied_elsewhere": copy("other.txt"),
  "filesystem/easy/notes/refused": copy("../copy.txt"),
  "postgres/easy/shop/paid": (call) =>
    call("pg_execute", { statements: ["UPDATE orders SET paid = true WHERE id = 1"] }),
};

/** The outcomes of the tasks whose id contains `part`, by the last part of the id. */
async function outcomes(
  part: string,
  options: Partial<RunOptions> = {},
): Promise<Record<string, Outcome>> {
  const run = new PublicRun({ checkout, python, solutions, ...options });
  try {
    const found: Record<string, Outcome> = {};
    for (const task of await readTasks(checkout))
      if (task.id.includes(part)) found[task.id.split("/").at(-1) ?? ""] = await run.task(task);
    return found;
  } finally {
    await run.stop();
  }
}

// Scripts that name their interpreter in the first line run on Unix only.
describe.skipIf(process.platform === "win32")("a public benchmark's tasks", () => {
  it("are judged by its verifiers after our solutions, each on a fresh copy of its files", async () => {
    const { copied, copied_elsewhere, refused } = await outcomes("/notes/");
    expect(copied).toMatchObject({ verdict: "pass", reason: "", calls: 2, errors: 0 });
    expect(copied?.tokens).toBeGreaterThan(0);
    expect(copied_elsewhere).toMatchObject({
      verdict: "fail",
      reason: "❌ copy.txt is missing",
      calls: 2,
    });
    expect(refused).toMatchObject({ verdict: "fail", calls: 2, errors: 1 });
    expect(refused?.reason).toMatch(/^copy_file: .*outside the allowed directories/s);
    expect(await readdir(join(checkout, "test_environments", "notes"))).toEqual(["note.txt"]);
  });

  it("are skipped with the reason if they cannot be run", async () => {
    const { unsolved, nothing_to_do, sorted } = await outcomes("filesystem/");
    expect(unsolved).toMatchObject({ verdict: "skip", calls: 0 });
    expect(unsolved?.reason).toMatch(/no reference solution/);
    expect(nothing_to_do).toMatchObject({ verdict: "skip" });
    expect(nothing_to_do?.reason).toMatch(/passes before anything is done/);
    expect(sorted).toMatchObject({
      verdict: "skip",
      reason:
        "no test_environments/photos; get it from https://example.com/photos.zip, made from https://example.org/photos",
    });
  });

  it("get their own database, prepared by the benchmark, and leave no role to the next", async () => {
    const { paid, opened } = await outcomes("postgres/");
    // Prepared twice, for the untouched data and for the solution: the second would fail with the first one's role.
    expect(paid).toMatchObject({ verdict: "pass", reason: "", calls: 1, errors: 0 });
    expect(opened?.reason).toMatch(
      /^no postgres_state\/museum\.backup or \.sql; get it from https:/,
    );
    const without = await outcomes("postgres/easy/shop", { python: "false" });
    expect(without["paid"]?.reason).toMatch(/^false has no psycopg2/);
  });

  it("can be left to a model", async () => {
    const { api, requests, close } = await scripted([
      { tool: "copy_file", input: { source: "note.txt", destination: "copy.txt" } },
      { say: "Copied." },
    ]);
    try {
      const { unsolved } = await outcomes("/unsolved", { model: { api, name: "scripted" } });
      expect(unsolved).toMatchObject({ verdict: "pass", calls: 1, errors: 0, tokens: 22 });
      expect(JSON.stringify(requests[0]?.messages)).toContain("Do filesystem/easy/notes/unsolved.");
    } finally {
      await close();
    }
  });

  it("are an error if the folder is not such a benchmark", async () => {
    await expect(readTasks(join(checkout, "test_environments"))).rejects.toThrow(
      /is it a checkout of MCPMark/,
    );
  });
});

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Lab, lab } from "./lab.ts";
import { talk } from "./session.ts";

let world: Lab;
let state: string;
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), "refmcp-undo-"));
  world = await lab("CREATE TABLE t (id int PRIMARY KEY, x text, g int GENERATED ALWAYS AS (id * 2) STORED); INSERT INTO t SELECT n, 'a' || n FROM generate_series(1, 50) n");
});
afterEach(async () => {
  await world.dispose();
  await rm(state, { recursive: true, force: true });
});

it("records", async () => {
  const server = await talk(["--url", world.url, "--allow-write", "--undo-dir", state]);
  for (const sql of ["UPDATE t SET x = x || '\"\\,' WHERE id < 3 RETURNING id, x;", "DELETE FROM t", "INSERT INTO t VALUES (1, null)"])
    console.log(JSON.stringify(await server.call("pg_execute", { statements: [sql] })));
  for (const dir of await readdir(join(state, "changes")))
    for (const name of (await readdir(join(state, "changes", dir))).sort()) console.log(name, (await readFile(join(state, "changes", dir, name), "utf8")).slice(0, 1500));
  await server.close();
  expect(1).toBe(1);
});

import { existsSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOf } from "../../../test/session.ts";
import { shownArtifact } from "../run/report.ts";
import { RETENTION, RunStore } from "./runs.ts";

let folder: string;
beforeEach(async () => {
  folder = await folderOf("store");
});

/** Sets when a run was. */
const touch = (store: RunStore, id: string, time: Date) =>
  utimes(join(store.folder, id), time, time);

/** A run that is over, with an artifact of this size in bytes, that ended this many milliseconds ago. */
async function ended(store: RunStore, bytes = 10, ago = 0): Promise<string> {
  const run = await store.begin();
  const { id, path: home } = run;
  await writeFile(join(home, "home.png"), Buffer.alloc(bytes));
  await store.finish(run, { url: "http://x.test/" });
  await store.sweep();
  if (existsSync(home)) await touch(store, id, new Date(Date.now() - ago));
  return id;
}

it("the store of runs keeps a limited number of runs", async () => {
  const store = new RunStore({ folder }, { ...RETENTION, runs: 3 });
  for (let n = 0; n < 7; n++) await ended(store);
  expect(await store.ids()).toHaveLength(3);
});

it("the store of runs deletes runs after the retention time", async () => {
  const store = new RunStore({ folder }, { ...RETENTION, milliseconds: 60_000 });
  const [old, young] = [await ended(store), await ended(store, 10, 30_000)];
  await touch(store, old, new Date(Date.now() - 61_000));
  expect(await store.sweep()).toEqual([old]);
  expect(await store.ids()).toEqual([young]);
});

it("the store of runs never deletes a run in progress, of itself or of another server", async () => {
  const store = new RunStore({ folder }, { ...RETENTION, runs: 1 });
  const other = new RunStore({ folder }, { ...RETENTION, runs: 1 });
  const [own, foreign] = [await store.begin(), await other.begin()];
  await ended(store);
  await ended(store);
  expect(await store.ids()).toEqual(expect.arrayContaining([own.id, foreign.id]));
  // A run left by a killed server is deleted eventually.
  await touch(store, foreign.id, new Date(Date.now() - 3 * 3_600_000));
  await store.sweep();
  expect(existsSync(foreign.path)).toBe(false);
  expect(existsSync(own.path)).toBe(true);
});

it("the store of runs links to the file, or to the resource for a remote client", async () => {
  const [here, elsewhere] = [new RunStore({ folder }), new RunStore({ folder }, RETENTION, "pw")];
  const id = await ended(here);
  expect((await here.artifact(id, "home.png")).uri).toMatch(/^file:\/\/\/.*\/home\.png$/);
  const artifact = shownArtifact(await elsewhere.artifact(id, "home.png"));
  expect(artifact).toMatchObject({
    uri: `pw://runs/${id}/home.png`,
    path: `pw://runs/${id}/home.png`,
  });
});

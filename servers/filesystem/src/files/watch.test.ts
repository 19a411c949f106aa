import { appendFile, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryBound } from "@refmcp/core/boundary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MOST_WATCHED, Watchers } from "./watch.ts";

let top = "";
let root = "";
let bound: DirectoryBound;
let watchers: Watchers;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-watch-")));
  root = join(top, "root");
  await mkdir(root);
  bound = new DirectoryBound({ configured: [{ path: root, source: "argument" }], mode: "narrow" });
  watchers = new Watchers(createPathGuard(bound));
});

afterEach(async () => {
  await watchers.close();
  await rm(top, { recursive: true, force: true });
});

/** Does something until the watcher notices, since the system may drop the first event of a fresh watch. */
async function noticed(events: () => number, act: () => Promise<void>): Promise<void> {
  const before = events();
  await act();
  await expect.poll(events, { timeout: 10_000 }).toBeGreaterThan(before);
}

describe("Watchers", () => {
  it("sees a log that grows, also after it was replaced and after it was deleted and made anew", async () => {
    const log = join(root, "app.log");
    await writeFile(log, "start\n");
    let events = 0;
    const stop = await watchers.watch("app.log", () => {
      events += 1;
    });
    await noticed(
      () => events,
      () => appendFile(log, "line\n"),
    );
    await writeFile(join(root, "next"), "replaced\n");
    await noticed(
      () => events,
      () => rename(join(root, "next"), log),
    );
    await noticed(
      () => events,
      () => appendFile(log, "and on\n"),
    );
    await noticed(
      () => events,
      () => rm(log),
    );
    await noticed(
      () => events,
      () => writeFile(log, "anew\n"),
    );
    await stop();
    const after = events;
    await appendFile(log, "unseen\n");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(events).toBe(after);
  });

  it("sees the entries of a directory and nothing deeper", async () => {
    await mkdir(join(root, "sub", "deeper"), { recursive: true });
    let events = 0;
    await watchers.watch("sub", () => {
      events += 1;
    });
    await noticed(
      () => events,
      () => writeFile(join(root, "sub", "new.txt"), "1"),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = events;
    await writeFile(join(root, "sub", "deeper", "hidden.txt"), "1");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(events).toBe(before);
  });

  it("says many events at once as one", async () => {
    await writeFile(join(root, "busy.txt"), "");
    let events = 0;
    await watchers.watch("busy.txt", () => {
      events += 1;
    });
    await noticed(
      () => events,
      async () => {
        for (let i = 0; i < 50; i++) await appendFile(join(root, "busy.txt"), "x");
      },
    );
    expect(events).toBeLessThan(25);
  });

  it("refuses what lies outside, does not exist, or leads out", async () => {
    await writeFile(join(top, "outside.txt"), "secret");
    await symlink(join(top, "outside.txt"), join(root, "link.txt"));
    for (const path of [join(top, "outside.txt"), "link.txt"]) {
      await expect(watchers.watch(path, () => undefined)).rejects.toMatchObject({ kind: "denied" });
    }
    await expect(watchers.watch("missing.txt", () => undefined)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("says nothing about what the client's roots have put outside since", async () => {
    await mkdir(join(root, "kept"));
    await writeFile(join(root, "a.txt"), "");
    let events = 0;
    await watchers.watch("a.txt", () => {
      events += 1;
    });
    await noticed(
      () => events,
      () => appendFile(join(root, "a.txt"), "seen"),
    );
    bound.setClientRoots([{ uri: `file://${join(root, "kept")}` }]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = events;
    await appendFile(join(root, "a.txt"), "unseen");
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(events).toBe(before);
  });

  it(`watches ${MOST_WATCHED} at most, and one more when one is given up`, async () => {
    await writeFile(join(root, "one.txt"), "");
    const stops = await Promise.all(
      Array.from({ length: MOST_WATCHED }, () => watchers.watch("one.txt", () => undefined)),
    );
    await expect(watchers.watch("one.txt", () => undefined)).rejects.toMatchObject({ kind: "too_large" });
    await stops[0]?.();
    const stop = await watchers.watch("one.txt", () => undefined);
    await stop();
  });
});

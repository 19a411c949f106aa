import {
  appendFile,
  mkdir,
  mkdtemp,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_WATCHED, Watchers } from "./watch.ts";

let top = "";
let root = "";
let allowed: DirectoryAllowlist;
let watchers: Watchers;

beforeEach(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-watch-")));
  root = join(top, "root");
  await mkdir(root);
  allowed = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument" }],
    mode: "narrow",
  });
  watchers = new Watchers(createPathGuard(allowed));
});

afterEach(async () => {
  vi.useRealTimers();
  await watchers.close();
  await rm(top, { recursive: true, force: true });
});

/** Does something, and waits until the watcher notices. */
async function noticed(events: () => number, act: () => Promise<void>): Promise<void> {
  const before = events();
  await act();
  await expect.poll(events).toBeGreaterThan(before);
}

/**
 * Does something that a watcher under test must not notice. A second watcher, which may see everything, notices it
 * twice; by then the first would have reported the first time.
 */
async function passes(path: string, act: () => Promise<void>): Promise<void> {
  const everything = new DirectoryAllowlist({
    configured: [{ path: root, source: "argument" }],
    mode: "off",
  });
  const others = new Watchers(createPathGuard(everything));
  let events = 0;
  await others.watch(path, () => {
    events += 1;
  });
  await noticed(() => events, act);
  await noticed(() => events, act);
  await others.close();
}

describe("Watchers", () => {
  it("sees a growing log, even after it is replaced or deleted and recreated", async () => {
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
      () => writeFile(log, "again\n"),
    );
    await stop();
    const after = events;
    await passes("app.log", () => appendFile(log, "unseen\n"));
    expect(events).toBe(after);
  });

  it("refuses paths that are outside, missing, or lead outside", async () => {
    await writeFile(join(top, "outside.txt"), "secret");
    await symlink(join(top, "outside.txt"), join(root, "link.txt"));
    for (const path of [join(top, "outside.txt"), "link.txt"]) {
      await expect(watchers.watch(path, () => undefined)).rejects.toMatchObject({ kind: "denied" });
    }
    await expect(watchers.watch("missing/a.txt", () => undefined)).rejects.toMatchObject({
      kind: "not_found",
    });
    const beyond = join(top, "missing.txt");
    await expect(watchers.watch(beyond, () => undefined)).rejects.toMatchObject({ kind: "denied" });
  });

  it("reports nothing that the client's roots have excluded since", async () => {
    await mkdir(join(root, "kept"));
    await writeFile(join(root, "a.txt"), "");
    let events = 0;
    await watchers.watch("a.txt", () => {
      events += 1;
    });
    allowed.setClientRoots([{ uri: `file://${join(root, "kept")}` }]);
    await passes("a.txt", () => appendFile(join(root, "a.txt"), "unseen"));
    expect(events).toBe(0);
    allowed.setClientRoots([{ uri: `file://${root}` }]);
    await noticed(
      () => events,
      () => appendFile(join(root, "a.txt"), "seen"),
    );
  });

  it(`watches at most ${MAX_WATCHED}, and another one when one is released`, async () => {
    await writeFile(join(root, "one.txt"), "");
    const stops = await Promise.all(
      Array.from({ length: MAX_WATCHED }, () => watchers.watch("one.txt", () => undefined)),
    );
    await expect(watchers.watch("one.txt", () => undefined)).rejects.toMatchObject({
      kind: "too_large",
    });
    await stops[0]?.();
    const stop = await watchers.watch("one.txt", () => undefined);
    await stop();
  });
});

import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { Locks } from "../change/change-context.ts";
import { undo } from "../change/undo.ts";
import { type WriteRequest, write } from "../edit/write.ts";
import { openFiles } from "../files.ts";
import { Documents } from "../read/documents.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import { imagePath } from "./entries.ts";
import { Journal } from "./journal.ts";

function request(path: string, content: string, more: Partial<WriteRequest> = {}): WriteRequest {
  return { path, content, mode: "overwrite", create_parents: false, ...more };
}

function allowlist(...paths: string[]): DirectoryAllowlist {
  return new DirectoryAllowlist({
    configured: paths.map((path) => ({ path, source: "argument" })),
    mode: "narrow",
  });
}

describe("the journal", () => {
  it("keeps the previous content, readable only by the user", async () => {
    const { files, put, journalDirectory } = await scratch();
    const path = await put("a.txt", "old");
    const { receipt } = await files.write(request(path, "new"));
    expect((await stat(journalDirectory)).mode & 0o777).toBe(0o700);
    const names = await readdir(journalDirectory);
    const id = receipt?.changeId;
    expect(names.sort()).toEqual([`${id}.3.json`, `${id}.image`, "directory.json"]);
    for (const name of names)
      expect((await stat(join(journalDirectory, name))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(journalDirectory, `${receipt?.changeId}.image`), "utf8")).toBe(
      "old",
    );
  });

  it("lists changes newest first, in pages, and by path", async () => {
    const { files, at } = await scratch();
    await files.createDirectory(at("sub"));
    for (const name of ["a", "sub/b", "c"]) await files.write(request(at(name), name));
    const all = await files.changes({ maxChars: 80_000, limit: 10 });
    expect(all.changes.map(({ change }) => [change.action, change.path])).toEqual([
      ["create", at("c")],
      ["create", at("sub/b")],
      ["create", at("a")],
      ["create_directory", at("sub")],
    ]);
    expect(all.nextCursor).toBeUndefined();
    const first = await files.changes({ maxChars: 80_000, limit: 3 });
    const second = await files.changes({ maxChars: 80_000, limit: 3, cursor: first.nextCursor });
    expect([...first.changes, ...second.changes]).toEqual(all.changes);
    const below = await files.changes({ maxChars: 80_000, limit: 10, path: at("sub") });
    expect(below.changes.map(({ change }) => change.path)).toEqual([at("sub/b"), at("sub")]);
    await expect(
      files.changes({ maxChars: 80_000, limit: 3, cursor: "nonsense" }),
    ).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("survives a restart, and is shared by two servers at once", async () => {
    const { files, another, at } = await scratch();
    const second = another();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? files : second).write(request(at(`${index}`), "x")),
      ),
    );
    const seen = await another().changes({ maxChars: 80_000, limit: 100 });
    expect(new Set(seen.changes.map(({ change }) => change.path)).size).toBe(60);
    expect(seen.changes.every(({ change }) => change.effect?.kind === "created")).toBe(true);
  });

  it("hides changes in other roots from a server", async () => {
    const { files, at, state, outside } = await scratch();
    const { receipt } = await files.write(request(at("secret.txt"), "x"));
    const other = new Journal({ directories: [state], allowed: allowlist(outside), enabled: true });
    expect(await other.list({ limit: 10 })).toEqual([]);
    await expect(other.get(receipt?.changeId ?? "")).rejects.toMatchObject({ kind: "not_found" });
  });

  it("drops the oldest entries beyond its limits, and leftovers of a crash", async () => {
    const { root, at, state } = await scratch();
    const journal = new Journal({
      directories: [state],
      allowed: allowlist(root),
      enabled: true,
      maxEntries: 30,
      maxBytes: 1000,
    });
    const opened = await journal.open(at("f"));
    if ("reason" in opened) throw new Error(opened.reason);
    const orphan = `${(Date.now() - 7_200_000).toString(36).padStart(9, "0")}-abcdef.image`;
    await writeFile(join(opened.directory, orphan), "left over");
    await writeFile(join(opened.directory, "0zzzzzzzz-aaaaaa.5.json"), "{ damaged");
    for (let index = 0; index < 100; index++) {
      const change = {
        id: journal.newId(),
        time: new Date().toISOString(),
        action: "edit",
        path: at("f"),
      } as const;
      await writeFile(imagePath(opened.directory, change.id), "x".repeat(50));
      await journal.write(opened.directory, change, 50);
    }
    expect((await journal.list({ limit: 1000 })).length).toBeLessThanOrEqual(40);
    const names = await readdir(opened.directory);
    expect(names).not.toContain(orphan);
    expect(names.filter((name) => name.endsWith(".image")).length * 50).toBeLessThanOrEqual(2000);
  });

  it("has one journal per allowed directory: activity in one does not affect undo in another", async () => {
    const { root, outside, state, at } = await scratch();
    const open = (path: string) =>
      new Journal({
        directories: [state],
        allowed: allowlist(path),
        enabled: true,
        maxEntries: 10,
      });
    const write = async (journal: Journal, path: string) => {
      const opened = await journal.open(path);
      if ("reason" in opened) throw new Error(opened.reason);
      const change = {
        id: journal.newId(),
        time: new Date().toISOString(),
        action: "edit",
        path,
      } as const;
      await journal.write(opened.directory, change, 0);
      return change.id;
    };
    const [mine, other] = [open(root), open(outside)];
    const id = await write(mine, at("a"));
    for (let index = 0; index < 100; index++) await write(other, join(outside, "b"));
    expect((await other.list({ limit: 1000 })).length).toBeLessThanOrEqual(30);
    expect(await open(root).get(id)).toMatchObject({ change: { id } });
    await expect(open(outside).get(id)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("keeps a change as long as its server's setting says, even if another server reads it", async () => {
    const { files, at, put, state, journalDirectory, outside } = await scratch();
    const { receipt } = await files.write(request(await put("a", "secret"), "x"));
    const [id, old] = [
      receipt?.changeId ?? "",
      (Date.now() - 31 * 86_400_000).toString(36).padStart(9, "0"),
    ];
    const aged = `${old}-abcdef`;
    for (const [from, to] of [
      [`${id}.6.json`, `${aged}.6.json`],
      [`${id}.image`, `${aged}.image`],
    ] as const)
      await rename(join(journalDirectory, from), join(journalDirectory, to));
    const kept = await files.write(request(at("b"), "b"));
    const other = createPathGuard(allowlist(outside));
    const neighbor = openFiles({
      guard: other,
      journal: true,
      journalDirectories: [state],
      maxReadChars: 9_999,
    });
    await neighbor.write(request(join(outside, "c"), "c"));
    expect((await readdir(journalDirectory)).sort()).toEqual([
      `${kept.receipt?.changeId}.0.json`,
      "directory.json",
    ]);
  });

  it("erases the journals of the allowed directories, and nothing else", async () => {
    const { files, put, journalDirectory, state, outside } = await scratch();
    const other = createPathGuard(allowlist(outside));
    const neighbor = openFiles({
      guard: other,
      journal: true,
      journalDirectories: [state],
      maxReadChars: 9_999,
    });
    await neighbor.write(request(join(outside, "c"), "c"));
    await files.write(request(await put(".env", "TOKEN=1"), "TOKEN=2"));
    await files.forgetChanges();
    expect(await readdir(journalDirectory)).toEqual(["directory.json"]);
    expect((await neighbor.changes({ limit: 10, maxChars: 1_000 })).changes).toHaveLength(1);
  });

  it("warns once if it is not persistent", async () => {
    const { root, state, at } = await scratch();
    const guard = createPathGuard(allowlist(root));
    const files = openFiles({
      guard,
      journal: true,
      journalDirectories: [at("inside the root"), state],
      maxReadChars: 9_999,
    });
    const first = await files.write(request(at("a"), "a"));
    expect(first.receipt?.note).toContain(`temporary directory (${state}`);
    expect((await files.write(request(at("b"), "b"))).receipt?.note).toBeUndefined();
  });

  it("marks changes that are too large as final, with the reason", async () => {
    const { root, at, put, state } = await scratch({ trash: false });
    const guard = createPathGuard(allowlist(root));
    const journal = new Journal({
      directories: [state],
      allowed: guard.allowed,
      enabled: true,
      maxImageBytes: 10,
    });
    const path = await put("a.txt", "more than ten bytes");
    const { record } = journal;
    const threads = new ThreadPool();
    const documents = new Documents(threads);
    const context = { guard, locks: new Locks(), journal, record, threads, documents };
    const written = await write(context, request(path, "new"));
    expect(written.receipt?.final).toContain("exceed the 10 B that the journal keeps");
    const [change] = await journal.list({ limit: 1 });
    expect(change).toMatchObject({ path: at("a.txt"), final: written.receipt?.final });
    await expect(undo(context, change?.id ?? "")).rejects.toMatchObject({ kind: "denied" });
  });
});

describe("without a journal", () => {
  it("nothing is kept, and undo explains why", async () => {
    const { files, at, journalDirectory } = await scratch({ journal: false });
    await files.write(request(at("a"), "a"));
    await expect(stat(journalDirectory)).rejects.toThrow("ENOENT");
    await expect(files.changes({ maxChars: 80_000, limit: 10 })).rejects.toMatchObject({
      kind: "unavailable",
    });
    await expect(files.undo("000000000-000000")).rejects.toThrow("--no-journal");
  });
});

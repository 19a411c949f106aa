import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist, withHidden } from "@refmcp/boundary";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDomain, scratch } from "../../../test/scratch.ts";
import { snapshot } from "../../../test/tree.ts";
import { hiddenPlaces } from "./trash.ts";

const LARGE = 120 * 1024 * 1024;

/** A directory whose journal is on another disk. */
async function elsewhere() {
  const place = await scratch();
  const parent = tmpdir().startsWith("/dev/shm") ? "/var/tmp" : "/dev/shm";
  const other = await mkdtemp(join(parent, "refmcp-journal-"));
  onTestFinished(() => rm(other, { recursive: true, force: true }));
  const allowed = new DirectoryAllowlist({
    configured: [{ path: place.root, source: "argument" }],
    mode: "off",
  });
  const guard = createPathGuard(withHidden(allowed, hiddenPlaces([other])));
  return { ...place, files: openDomain({ guard, journalDirectories: [other] }) };
}

describe("images", () => {
  it("are renamed on the same disk, regardless of size, and returned unchanged", async () => {
    const { files, put, at, journalDirectory } = await scratch();
    const path = await put("movie", "x");
    await truncate(path, LARGE);
    await put("dir/movie", "x");
    const before = [await stat(path), await stat(at("dir/movie"))];
    const receipts = [await files.delete(path), await files.delete(at("dir"))];
    expect(await readdir(join(journalDirectory, "images"))).toHaveLength(2);
    for (const { receipt } of receipts) await files.undo(receipt?.changeId ?? "");
    const after = [await stat(path), await stat(at("dir/movie"))];
    expect(after.map(({ ino }) => ino)).toEqual(before.map(({ ino }) => ino));
    expect(await readdir(join(journalDirectory, "images"))).toEqual([]);
  });

  it("of a file that is replaced are not copied, and go back and forth", async () => {
    const { files, put, at, read } = await scratch();
    const path = await put("log", "x");
    await truncate(path, LARGE);
    const { ino } = await stat(path);
    const write = { path, content: "new", mode: "overwrite", create_parents: false } as const;
    const written = await files.write(write);
    const undone = await files.undo(written.receipt?.changeId ?? "");
    expect(await stat(path)).toMatchObject({ ino, size: LARGE, nlink: 1 });
    await files.undo(undone.receipt.changeId ?? "");
    expect(await read("log")).toBe("new");
    await put("other", "other");
    await files.move({ source: path, destination: at("other"), overwrite: true });
  });

  it("are kept in the allowed directory if the journal is on another disk", async () => {
    const { files, put, at, root } = await elsewhere();
    const path = await put("dir/movie", "x");
    await truncate(path, LARGE);
    const { ino } = await stat(path);
    const { receipt } = await files.delete(at("dir"));
    const trash = join(root, ".refmcp-trash");
    expect((await lstat(trash)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(trash, ".gitignore"), "utf8")).toBe("*\n");
    await files.undo(receipt?.changeId ?? "");
    expect((await stat(path)).ino).toBe(ino);
    const again = await files.delete(at("dir"));
    await rm(trash, { recursive: true });
    await expect(files.undo(again.receipt?.changeId ?? "")).rejects.toThrow("no longer exists");
  });

  it("of another journal stay in the trash of a root as long as that journal keeps them", async () => {
    const { files, put, root } = await elsewhere();
    const trash = join(root, ".refmcp-trash");
    await mkdir(trash, { mode: 0o700 });
    const old = `${(Date.now() - 40 * 86_400_000).toString(36).padStart(9, "0")}-abcdef.0`;
    for (const days of [7, 90]) await writeFile(join(trash, `${old}.${days}`), "theirs");
    await files.delete(await put("a", "a"));
    expect(await readdir(trash)).toEqual([`${old}.90`]);
  });

  it("are not put where a link leads, or what is too large to be copied is refused", async () => {
    const { files, put, at, outside, root } = await elsewhere();
    await put("a", "a");
    await truncate(await put("movie", "x"), LARGE);
    await symlink(outside, join(root, ".refmcp-trash"));
    await files.delete(at("a"));
    await expect(files.delete(at("movie"))).rejects.toMatchObject({ kind: "too_large" });
    expect(await readdir(outside)).toEqual([]);
    expect((await stat(at("movie"))).size).toBe(LARGE);
  });
});

describe("a journal inside the root", () => {
  it.each(["proc", "portable"] as const)(
    "works, and no tool reaches it or a trash (%s)",
    async (verification) => {
      const { root, at, put } = await scratch();
      const state = at("home", "state");
      const allowed = new DirectoryAllowlist({
        configured: [{ path: root, source: "argument" }],
        mode: "off",
      });
      const guard = createPathGuard(withHidden(allowed, hiddenPlaces([state])), verification);
      const files = openDomain({ guard, journalDirectories: [state] });
      const path = await put("a.txt", "secret words");
      const write = { path, content: "new", mode: "overwrite", create_parents: false } as const;
      const { receipt } = await files.write(write);
      await mkdir(at(".Trash-1000/files"), { recursive: true });
      await put(".Trash-1000/files/b.txt", "secret words");
      await mkdir(at(".refmcp-trash"));
      const journal = join(state, "journal");
      await symlink(journal, at("link"));
      const key = "images";
      const [image = ""] = await readdir(join(journal, key));
      const denied = { kind: "denied" };
      const moving = (source: string) =>
        files.plan({ action: "move", source, destination: at("out"), overwrite: false });
      for (const target of [
        join(journal, key, image),
        join(at("link"), key, image),
        at(".Trash-1000/files/b.txt"),
      ]) {
        await expect(files.readText(target, { maxChars: 10 })).rejects.toMatchObject(denied);
        await expect(files.info(target)).rejects.toMatchObject(denied);
        await expect(moving(target)).rejects.toMatchObject(denied);
        await expect(files.delete(target)).rejects.toMatchObject(denied);
        await expect(files.write({ ...write, path: target })).rejects.toMatchObject(denied);
      }
      // Nor with a directory around them.
      for (const target of [at("home"), state, journal]) {
        await expect(files.delete(target)).rejects.toMatchObject(denied);
        await expect(moving(target)).rejects.toMatchObject(denied);
      }
      await expect(files.createDirectory(at(".Trash-7/x"))).rejects.toMatchObject(denied);
      await files.copy({ source: at("home"), destination: at("copy"), overwrite: false });
      expect(await snapshot(at("copy"))).toEqual({ state: "directory" });
      await rm(at("link"));
      const all = { path: root, limit: 100, budget: 20_000 };
      const names = {
        excludePatterns: [],
        type: "any",
        include_ignored: true,
        sort: "path",
      } as const;
      const searched = await files.searchNames({ ...all, ...names, pattern: "*" });
      const listed = await files.list({ ...all, details: false, sort: "name" });
      for (const answer of [searched, listed]) {
        expect(JSON.stringify(answer)).toContain("a.txt");
        expect(JSON.stringify(answer)).not.toMatch(/Trash-1000|refmcp-trash|journal/);
      }
      await files.undo(receipt?.changeId ?? "");
      expect(await readFile(path, "utf8")).toBe("secret words");
      expect((await lstat(journal)).mode & 0o077).toBe(0);
    },
  );
});

import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
} from "node:fs/promises";
import { join } from "node:path";
import { createPathGuard, DirectoryAllowlist, withHidden } from "@refmcp/boundary";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { snapshot } from "../../../test/tree.ts";
import { openFiles } from "../files.ts";
import { hiddenPlaces, Trash } from "./trash.ts";

const LARGE = 120 * 1024 * 1024;

async function remove({ files }: Awaited<ReturnType<typeof scratch>>, path: string) {
  const plan = await files.planDelete(path, { recursive: true });
  expect(plan.question).toBeUndefined();
  return (await files.delete(plan)).receipt;
}

describe("the trash", () => {
  it("takes files and directories of any size without asking, and gives them back unchanged", async () => {
    const place = await scratch();
    const { files, put, at, state } = place;
    await put("movie", "x");
    await truncate(at("movie"), LARGE);
    await put("dir/movie", "x");
    await truncate(at("dir/movie"), LARGE);
    const before = [await stat(at("movie")), await stat(at("dir/movie"))];
    const receipts = [await remove(place, at("movie")), await remove(place, at("dir"))];
    expect(await readdir(join(state, "trash"))).toHaveLength(2);
    expect(receipts.map(({ final }) => final)).toEqual([undefined, undefined]);
    for (const { changeId } of receipts) await files.undo(changeId ?? "");
    const after = [await stat(at("movie")), await stat(at("dir/movie"))];
    // Renamed, not copied.
    expect(after.map(({ ino }) => ino)).toEqual(before.map(({ ino }) => ino));
    expect(await readdir(join(state, "trash"))).toEqual([]);
  });

  it("keeps a large file that is replaced, without copying it, and undoes and redoes that", async () => {
    const { files, put, at, read } = await scratch();
    const path = await put("log", "x");
    await truncate(path, LARGE);
    const { ino } = await stat(path);
    expect(await files.overwriteQuestion(path, "overwrite")).toBeUndefined();
    const written = await files.write({
      path,
      content: "new",
      mode: "overwrite",
      create_parents: false,
    });
    const undone = await files.undo(written.receipt?.changeId ?? "");
    expect(await stat(path)).toMatchObject({ ino, size: LARGE });
    await files.undo(undone.receipt.changeId ?? "");
    expect(await read("log")).toBe("new");
    await put("other", "other");
    await files.move({ source: path, destination: at("other"), overwrite: true });
  });

  it("copies a file that has other names, which may still be changed", async () => {
    const { files, put, at, state } = await scratch({ journal: false });
    const path = await put("a", "old");
    await link(path, at("b"));
    const { receipt } = await files.write({
      path,
      content: "new",
      mode: "overwrite",
      create_parents: false,
    });
    const [name = ""] = await readdir(join(state, "trash"));
    const kept = join(state, "trash", name);
    expect(receipt?.final).toBe(`the journal is off (--no-journal); it is in the trash: ${kept}`);
    expect((await stat(kept)).ino).not.toBe((await stat(at("b"))).ino);
    expect(await readFile(kept, "utf8")).toBe("old");
  });

  it("says so if it was emptied", async () => {
    const place = await scratch();
    await place.put("movie", "x");
    await truncate(place.at("movie"), LARGE);
    const { changeId } = await remove(place, place.at("movie"));
    await rm(join(place.state, "trash"), { recursive: true });
    await expect(place.files.undo(changeId ?? "")).rejects.toThrow("the trash was emptied");
  });

  it("is erased with the journal", async () => {
    const place = await scratch();
    await place.put("movie", "x");
    await truncate(place.at("movie"), LARGE);
    await remove(place, place.at("movie"));
    await place.files.forgetChanges();
    expect(await readdir(join(place.state, "trash"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("is not kept where others can replace it", async () => {
    const { files, put, at, state } = await scratch({ journal: false });
    await mkdir(state);
    await chmod(state, 0o777);
    await put("a", "a");
    const receipt = await files.delete(await files.planDelete(at("a"), { recursive: false }));
    expect(receipt.receipt.final).toContain(at(".refmcp-trash"));
    expect(await readdir(state)).toEqual([]);
  });

  it("loses nothing if it cannot be used after all, since nobody was asked", async () => {
    const { files, put, at, read } = await scratch({ journal: false });
    await put("a", "a");
    vi.spyOn(Trash.prototype, "reserve").mockResolvedValue(undefined);
    onTestFinished(() => void vi.restoreAllMocks());
    const plan = await files.planDelete(at("a"), { recursive: false });
    await expect(files.delete(plan)).rejects.toMatchObject({ kind: "denied" });
    const write = {
      path: at("a"),
      content: "b",
      mode: "overwrite",
      create_parents: false,
    } as const;
    await expect(files.write(write)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await read("a")).toBe("a");
  });

  it("is refused if it is a link, so nothing is moved to where it leads", async () => {
    const { files, put, at, state, outside, root } = await scratch({ journal: false });
    await put("a", "a");
    await mkdir(state);
    await symlink(outside, join(state, "trash"));
    await symlink(outside, join(root, ".refmcp-trash"));
    const plan = await files.planDelete(at("a"), { recursive: false });
    expect(plan.question).toContain("permanently lost");
    await files.delete(plan);
    expect(await readdir(outside)).toEqual([]);
  });
});

describe("journal and trash inside the root", () => {
  it.each(["proc", "portable"] as const)(
    "work, and no tool reaches them (%s)",
    async (verification) => {
      const { root, at, put } = await scratch();
      const state = at("home", "state");
      const allowed = new DirectoryAllowlist({
        configured: [{ path: root, source: "argument" }],
        mode: "off",
      });
      const hidden = hiddenPlaces([state]);
      const guard = createPathGuard(withHidden(allowed, hidden), verification);
      const files = openFiles({
        guard,
        journal: true,
        journalDirectories: [state],
        maxReadChars: 80_000,
      });
      const path = await put("a.txt", "secret words");
      expect(await files.overwriteQuestion(path, "overwrite")).toBeUndefined();
      const { receipt } = await files.write({
        path,
        content: "new",
        mode: "overwrite",
        create_parents: false,
      });
      await put("movie", "secret words");
      await truncate(at("movie"), LARGE);
      await files.delete(await files.planDelete(at("movie"), { recursive: false }));
      await mkdir(at(".Trash-1000/files"), { recursive: true });
      await put(".Trash-1000/files/b.txt", "secret words");
      await mkdir(at(".refmcp-trash"));
      await symlink(join(state, "trash"), at("link"));

      const [name = ""] = await readdir(join(state, "trash"));
      const trashed = join(state, "trash", name);
      const denied = { kind: "denied" };
      for (const one of [trashed, join(at("link"), name), at(".Trash-1000/files/b.txt")]) {
        await expect(files.readText(one, { maxChars: 10 })).rejects.toMatchObject(denied);
        await expect(files.info(one)).rejects.toMatchObject(denied);
        const moving = files.plan({
          action: "move",
          source: one,
          destination: at("out"),
          overwrite: false,
        });
        await expect(moving).rejects.toMatchObject(denied);
        await expect(files.planDelete(one, { recursive: true })).rejects.toMatchObject(denied);
        const write = { path: one, content: "", mode: "overwrite", create_parents: false } as const;
        await expect(files.write(write)).rejects.toMatchObject(denied);
      }
      // Nor with a directory around them.
      for (const one of [at("home"), state, join(state, "trash")]) {
        await expect(files.planDelete(one, { recursive: true })).rejects.toMatchObject(denied);
        const moving = files.plan({
          action: "move",
          source: one,
          destination: at("out"),
          overwrite: false,
        });
        await expect(moving).rejects.toMatchObject(denied);
      }
      await expect(files.createDirectory(at(".Trash-7/x"))).rejects.toMatchObject(denied);
      await files.copy({ source: at("home"), destination: at("copy"), overwrite: false });
      expect(await snapshot(at("copy"))).toEqual({ state: "directory" });
      const all = { path: root, limit: 100, budget: 20_000 };
      const names = {
        excludePatterns: [],
        type: "any",
        include_ignored: true,
        sort: "path",
      } as const;
      const found = await files.searchNames({ ...all, ...names, pattern: "*" });
      const listed = await files.list({ ...all, details: false, sort: "name" });
      for (const shown of [found, listed]) {
        expect(JSON.stringify(shown)).toContain("a.txt");
        expect(JSON.stringify(shown)).not.toMatch(/Trash-1000|refmcp-trash|journal/);
      }
      await files.undo(receipt?.changeId ?? "");
      expect(await readFile(path, "utf8")).toBe("secret words");
      expect((await lstat(join(state, "journal"))).mode & 0o077).toBe(0);
    },
  );
});

import {
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPathGuard } from "@refmcp/boundary";
import { describe, expect, it, onTestFinished } from "vitest";
import { allowlist, openDomain, request, type Scratch, scratch } from "../../../test/scratch.ts";

describe("undo", () => {
  it("undoes and redoes writing, appending, editing and creating", async () => {
    const { files, at, put, read, list } = await scratch();
    const path = await put("a.txt", "one\n");
    const steps = [
      async () => (await files.write(request(path, "two\n"))).receipt,
      async () => (await files.write(request(path, "more\n", { mode: "append" }))).receipt,
      async () =>
        (
          await files.edit({
            path,
            edits: [{ oldText: "more", newText: "less" }],
            replace_all: false,
            dryRun: false,
            maxChars: 1000,
          })
        ).receipt,
      async () =>
        (await files.write(request(at("x/y/new.txt"), "n", { create_parents: true }))).receipt,
    ];
    const contents: string[] = [];
    const ids: string[] = [];
    const look = async () => `${await read("a.txt")}|${(await list()).join()}`;
    for (const step of steps) {
      contents.push(await look());
      ids.push((await step())?.changeId ?? "");
    }
    const last = await look();
    const undos: string[] = [];
    for (const id of ids.toReversed()) {
      undos.push((await files.undo(id)).receipt?.changeId ?? "");
      expect(await look()).toBe(contents[ids.indexOf(id)]);
    }
    for (const id of undos.toReversed()) await files.undo(id);
    expect(await look()).toBe(last);
    expect(await read("x/y/new.txt")).toBe("n");
  });

  it("says of a change that was interrupted that nothing is left of it, not that nothing was made", async () => {
    const { files, at, put, list, journalDirectory, another } = await scratch();
    await files.write(request(at("x/a.txt"), "a", { create_parents: true }));
    const [name = ""] = (await readdir(journalDirectory)).filter((entry) => /json$/.test(entry));
    const record = join(journalDirectory, name);
    const lines = (await readFile(record, "utf8")).split("\n");
    // Killed after the directory was made, which somebody else now uses.
    await writeFile(record, `${lines.slice(0, 3).join("\n")}\n`);
    await rm(at("x/a.txt"));
    await put("x/b.txt", "b");
    const domain = another();
    const [change] = await domain.changes();
    await expect(domain.undo(change?.id ?? "")).rejects.toMatchObject({
      code: "nothing_made",
      message: `Change ${change?.id} was interrupted and left nothing to undo.`,
    });
    expect(await list("x")).toEqual(["b.txt"]);
  });

  it("refuses to remove a created file that has changed, and keeps parents in use", async () => {
    const { files, at, put, list } = await scratch();
    const { receipt } = await files.write(request(at("x/a.txt"), "a", { create_parents: true }));
    await put("x/b.txt", "b");
    await files.undo(receipt?.changeId ?? "");
    expect(await list("x")).toEqual(["b.txt"]);
  });

  it.each(["same", "other"])(
    "restores what was deleted with modes and times, from a journal on the %s disk",
    async (disk) => {
      const { root, state, at, put, list, read } = await scratch();
      const parent = tmpdir().startsWith("/dev/shm") ? "/var/tmp" : "/dev/shm";
      const other = disk === "same" ? state : await mkdtemp(join(parent, "refmcp-journal-"));
      onTestFinished(() => rm(other, { recursive: true, force: true }));
      const guard = createPathGuard(allowlist(root));
      const files = openDomain({ guard, journalDirectories: [other] });
      // Else it is kept next to the user's files.
      if (disk === "other") await put(".refmcp-trash", "in the way");
      await put("dir/sub/a.sh", "a");
      await chmod(at("dir/sub/a.sh"), 0o710);
      await utimes(at("dir/sub/a.sh"), 1000, 2000);
      await symlink("sub/a.sh", at("dir/link"));
      const { receipt } = await files.delete(at("dir"));
      expect(await list()).toEqual([]);
      const undone = await files.undo(receipt?.changeId ?? "");
      expect(undone.done).toBe(`"${at("dir")}" was restored.`);
      expect(await read("dir/link")).toBe("a");
      const back = await stat(at("dir/sub/a.sh"));
      expect([back.mode & 0o777, back.mtimeMs]).toEqual([0o710, 2_000_000]);
      await files.undo(undone.receipt?.changeId ?? "");
      expect(await list()).toEqual([]);
    },
  );

  it("undoes copies and created directories", async () => {
    const { files, at, put, list } = await scratch();
    await put("dir/a", "a");
    const copied = await files.copy({
      source: at("dir"),
      destination: at("copy"),
      overwrite: false,
    });
    const creation = await files.createDirectory(at("x/y/z"));
    const undone = await files.undo(copied.receipt?.changeId ?? "");
    expect(await list()).toEqual(["dir", "x"]);
    await files.undo(undone.receipt?.changeId ?? "");
    expect(await list("copy")).toEqual(["a"]);
    const unmade = await files.undo(creation.receipt?.changeId ?? "");
    expect(await list()).toEqual(["copy", "dir"]);
    await files.undo(unmade.receipt?.changeId ?? "");
    expect(await list("x/y")).toEqual(["z"]);
    await put("x/y/z/f", "in use");
    await expect(files.undo(creation.receipt?.changeId ?? "")).rejects.toMatchObject({
      kind: "conflict",
    });
  });

  it.each([
    [
      "copied",
      async ({ files, at }: Scratch) => {
        return (await files.copy({ source: at("dir"), destination: at("other"), overwrite: false }))
          .receipt;
      },
    ],
    [
      "brought back",
      async ({ files, at }: Scratch) => {
        await files.move({ source: at("dir"), destination: at("other"), overwrite: false });
        const gone = await files.delete(at("other"));
        return (await files.undo(gone.receipt?.changeId ?? "")).receipt;
      },
    ],
  ])(
    "never removes a directory that was %s if someone else changed its contents",
    async (_, act) => {
      const here = await scratch();
      const { files, at, put, read, list } = here;
      await put("dir/sub/a", "hello");
      const { changeId = "" } = (await act(here)) ?? {};
      // As many entries and bytes as before.
      await put("other/sub/a", "HELLO");
      await expect(files.undo(changeId)).rejects.toMatchObject({ kind: "conflict" });
      expect(await read("other/sub/a")).toBe("HELLO");
      await rm(at("other/sub/a"));
      await put("other/sub/b", "hello");
      await expect(files.undo(changeId)).rejects.toMatchObject({ kind: "conflict" });
      expect(await list("other/sub")).toEqual(["b"]);
    },
  );

  it("does not put back what a file has replaced that has changed since", async () => {
    const { files, put, read, list } = await scratch();
    for (const name of ["a", "b", "c"]) await put(name, name);
    const moves = [
      { source: "a", destination: "b" },
      { source: "c", destination: "d" },
    ];
    const { receipt } = await files.runPlan(
      await files.plan({ action: "move", moves, overwrite: true }),
    );
    await put("b", "by hand");
    const id = receipt?.changeId ?? "";
    await expect(files.undo(id)).rejects.toMatchObject({ kind: "conflict" });
    await files.undo(id, { skipChanged: true });
    expect(await list()).toEqual(["b", "c"]);
    expect(await read("b")).toBe("by hand");
  });
});

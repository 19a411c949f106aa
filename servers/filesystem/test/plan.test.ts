import { writeFileSync } from "node:fs";
import { mkdir, symlink, utimes } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { itLong } from "../../../vitest.long.ts";
import copyFile from "../src/tools/copy-file.ts";
import deleteFile from "../src/tools/delete-file.ts";
import listChanges from "../src/tools/list-changes.ts";
import moveFile from "../src/tools/move-file.ts";
import undoChange from "../src/tools/undo-change.ts";
import { type Scratch, scratch } from "./scratch.ts";
import { snapshot } from "./tree.ts";
import { use } from "./use.ts";

const changeOf = (answer: unknown) => /Change (\w+-\w+)/.exec(String(answer))?.[1] ?? "";

/** Puts pictures of two years, and returns their number. */
async function pictures({ at, put }: Scratch, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const name = `IMG_${String(i).padStart(4, "0")}.jpg`;
    await put(`Pictures/${name}`, `picture ${i}`);
    const date = new Date(2024, i % 24, 10, 12);
    await utimes(at("Pictures", name), date, date);
  }
}

describe("patterns", () => {
  itLong(
    "arranges 300 pictures by month in two calls with few tokens, and undoes it in one",
    async () => {
      const place = await scratch();
      const { files, root, list } = place;
      await pictures(place, 300);
      const before = await snapshot(root);
      const request = { source: "Pictures/*.jpg", destination: "Pictures/{mtime:yyyy-MM}/$0" };
      const preview = String(await use(moveFile, files, { ...request, dryRun: true }));
      expect(preview).toContain(
        "Would move 300 files into 24 directories (24 created). Nothing was changed. To see more names, narrow source.",
      );
      expect(preview).toContain(
        '13 files: "IMG_0002.jpg" → "2024-03/IMG_0002.jpg" … "IMG_0290.jpg"',
      );
      expect(await snapshot(root)).toEqual(before);
      const done = String(await use(moveFile, files, request));
      expect(done).toMatch(
        /Moved 300 files into 24 directories \(24 created\)\. Change \w+-\w+\.\]$/,
      );
      expect(await list("Pictures/2025-12")).toHaveLength(12);
      const calls = JSON.stringify(request).length * 2 + preview.length + done.length;
      expect(calls / 3.5).toBeLessThan(700);

      const listed = String(await use(listChanges, files, {}));
      expect(listed.split("\n")).toHaveLength(2);
      expect(listed).toContain("and 299 more");
      const undone = await use(undoChange, files, { id: changeOf(done) });
      expect(undone).toContain("300 steps undone.");
      expect(await snapshot(root)).toEqual(before);
      await use(undoChange, files, { id: changeOf(undone) });
      expect(await list("Pictures/2025-12")).toHaveLength(12);
    },
  );

  // macOS has one file under both names.
  it.skipIf(process.platform === "darwin")(
    "moves, copies and deletes names that differ only in their Unicode form, and undoes it",
    async () => {
      const { files, put, root, read, list } = await scratch();
      const names = ["cafe\u0301.txt", "caf\u00e9.txt"];
      for (const name of names) await put(`in/${name}`, name);
      const before = await snapshot(root);
      const pair = { source: "in/*.txt", destination: "out/$0" };
      for (const tool of [moveFile, copyFile]) {
        const done = await use(tool, files, pair);
        for (const name of names) expect(await read(`out/${name}`)).toBe(name);
        await use(undoChange, files, { id: changeOf(done) });
        expect(await snapshot(root)).toEqual(before);
      }
      const deleted = await use(deleteFile, files, { path: pair.source });
      expect(await list("in")).toEqual([]);
      await use(undoChange, files, { id: changeOf(deleted) });
      expect(await snapshot(root)).toEqual(before);
    },
  );

  it("fills captures, names, extensions and times into the destination", async () => {
    const { files, put, at, list } = await scratch();
    await put("in/2024/Report (1).final.pdf", "a");
    await utimes(at("in/2024/Report (1).final.pdf"), new Date(), new Date(2023, 0, 5, 7, 9));
    const move = (source: string, destination: string) =>
      use(copyFile, files, { source, destination });
    await move("in/**/Report (?)*.pdf", "out/$1/$2$3/{stem}-$2.{ext}");
    expect(await list("out/2024/1.final")).toEqual(["Report (1).final-1.pdf"]);
    await move("in/*/*.{pdf,txt}", "times/{mtime:yyyy-MM-dd HH.mm} $$ $0");
    expect(await list("times")).toEqual(["2023-01-05 07.09 $ Report (1).final.pdf"]);
    await move("in/*/*", "flat/");
    expect(await list("flat")).toEqual(["Report (1).final.pdf"]);
    await mkdir(at("there"));
    await move("in/[0-9]*/{Report,Letter}*", "there");
    expect(await list("there")).toEqual(["Report (1).final.pdf"]);
  });

  it("takes patterns in moves, checks all of them together, and undoes them at once", async () => {
    const { files, put, root, list } = await scratch();
    for (const name of ["a.ts", "b.ts", "c.gz", "d (1).txt", "e.txt"])
      await put(`Desktop/${name}`, name);
    const before = await snapshot(root);
    const moves = [
      { source: "Desktop/*.ts", destination: "Desktop/Code/$0" },
      { source: "Desktop/*.gz", destination: "Desktop/Archives/" },
      { source: "Desktop/d (1).txt", destination: "Desktop/d.txt" },
    ];
    const twice = [...moves, { source: "Desktop/a.*", destination: "Desktop/Other/" }];
    await expect(use(moveFile, files, { moves: twice })).rejects.toThrow("It has two destinations");
    const none = [...moves, { source: "Desktop/*.pdf", destination: "Desktop/Papers/" }];
    await expect(use(moveFile, files, { moves: none })).rejects.toMatchObject({
      kind: "not_found",
    });
    expect(await snapshot(root)).toEqual(before);
    const answer = await use(moveFile, files, { moves });
    expect(await list("Desktop")).toEqual(["Archives", "Code", "d.txt", "e.txt"]);
    expect(await list("Desktop/Code")).toEqual(["a.ts", "b.ts"]);
    await use(undoChange, files, { id: changeOf(answer) });
    expect(await snapshot(root)).toEqual(before);
  });

  it("refuses one destination for many files, with how to put them into it", async () => {
    const { files, put, list } = await scratch();
    await put("a.txt", "a");
    await put("b.txt", "b");
    await expect(
      use(moveFile, files, { source: "*.txt", destination: "texts" }),
    ).rejects.toMatchObject({
      message: '"texts" is one path for 2 files.',
      hint: "To put them into it, write texts/$0; to number them, write {n}.",
    });
    expect(await list()).toEqual(["a.txt", "b.txt"]);
  });

  it("takes an existing name with special characters literally", async () => {
    const { files, put, list } = await scratch();
    await put("a[1] (*).txt", "a");
    await put("a1 x.txt", "b");
    await use(moveFile, files, { source: "a[1] (*).txt", destination: "b.txt" });
    expect(await list()).toEqual(["a1 x.txt", "b.txt"]);
  });

  it("moves directories only if the pattern ends with a slash", async () => {
    const { files, put, list } = await scratch();
    await put("old-a/f", "a");
    await put("old-b/f", "b");
    await put("old-c", "c");
    await use(moveFile, files, { source: "old-*/", destination: "new-$1" });
    expect(await list()).toEqual(["new-a", "new-b", "old-c"]);
  });

  it("refuses unknown placeholders and patterns that match nothing, with what to do", async () => {
    const { files, put } = await scratch();
    await put("a.txt", "a");
    const move = (source: string, destination: string) =>
      use(moveFile, files, { source, destination });
    await expect(move("*.txt", "x/$2")).rejects.toThrow(
      "$2 in destination is not one of the 1 captures",
    );
    await expect(move("*.txt", "x/{size}")).rejects.toThrow("{size} in destination is unknown");
    await expect(move("*.txt", "x/{mtime:YYYY}")).rejects.toMatchObject({ kind: "invalid" });
    await expect(move("*.jpg", "x/$0")).rejects.toMatchObject({ kind: "not_found" });
  });

  it("refuses a pattern that could take forever", async () => {
    const { files, put } = await scratch();
    await put(`${"a".repeat(200)}.txt`, "a");
    const source = `${"*a".repeat(40)}*b`;
    await expect(use(moveFile, files, { source, destination: "x/$0" })).rejects.toMatchObject({
      kind: "invalid",
    });
  });
});

describe("plans", () => {
  it("orders chains and swaps, and undoes them", async () => {
    const { files, put, root, read } = await scratch();
    for (const name of ["a", "b", "c", "x", "y", "z"]) await put(name, name);
    const before = await snapshot(root);
    const moves = [
      { source: "a", destination: "b" },
      { source: "b", destination: "c" },
      { source: "c", destination: "d" },
      { source: "x", destination: "y" },
      { source: "y", destination: "z" },
      { source: "z", destination: "x" },
    ];
    const answer = await use(moveFile, files, { moves });
    const names = ["b", "c", "d", "y", "z", "x"];
    expect(await Promise.all(names.map(read))).toEqual(["a", "b", "c", "x", "y", "z"]);
    await use(undoChange, files, { id: changeOf(answer) });
    expect(await snapshot(root)).toEqual(before);
  });

  it("checks everything first, and names each pair that cannot be made", async () => {
    const { files, put, root, at, outside } = await scratch();
    for (const name of ["a", "b", "c", "d/e", "taken"]) await put(name, name);
    const before = await snapshot(root);
    const moves = [
      { source: "a", destination: "new/a" },
      { source: "b", destination: "new/a" },
      { source: "c", destination: "taken" },
      { source: "missing", destination: "m" },
      { source: "d", destination: "d/e/f" },
      { source: "taken", destination: "d" },
    ];
    const refusal = use(moveFile, files, { moves: moves.slice(0, 5) });
    await expect(refusal).rejects.toMatchObject({ kind: "conflict" });
    await expect(refusal).rejects.toThrow("4 of 5 moves cannot be made; nothing was changed.");
    await expect(refusal).rejects.toThrow(`"${at("a")}" has the same destination`);
    await expect(refusal).rejects.toThrow(`"${at("taken")}" already exists.`);
    await expect(refusal).rejects.toThrow(`"${at("missing")}" does not exist`);
    const out = { source: "a", destination: `${outside}/a` };
    await expect(use(moveFile, files, { moves: [out] })).rejects.toMatchObject({ kind: "denied" });
    await expect(use(moveFile, files, { moves, source: "a" })).rejects.toMatchObject({
      kind: "invalid",
    });
    await expect(use(moveFile, files, { source: "a" })).rejects.toMatchObject({ kind: "invalid" });
    const inside = [
      { source: "d", destination: "d2" },
      { source: "d/e", destination: "e" },
    ];
    await expect(use(moveFile, files, { moves: inside })).rejects.toThrow(
      "which contains it, is also moved",
    );
    expect(await snapshot(root)).toEqual(before);
  });

  it.each([30, 0])(
    "takes everything back if a move fails in the middle (--journal-days %i)",
    async (journalDays) => {
      const { files, put, root, another } = await scratch({ journalDays });
      for (const name of ["a", "b", "c"]) await put(name, name);
      const moves = ["a", "b", "c"].map((source) => ({ source, destination: `to/${source}` }));
      const planned = await files.plan({ action: "move", moves, overwrite: false });
      // Another program creates the last destination after the check.
      await put("to/c", "theirs");
      const before = await snapshot(root);
      await expect(files.runPlan(planned, {})).rejects.toMatchObject({ kind: "conflict" });
      expect(await snapshot(root)).toEqual(before);
      expect(await another().changes()).toEqual([]);
    },
  );

  it("reports the change that remains if something cannot be taken back", async () => {
    const { files, put, list, at } = await scratch();
    for (let i = 0; i < 26; i++) await put(`f${10 + i}`, "x");
    const planned = await files.plan({
      action: "move",
      source: "f*",
      destination: "to/$0",
      overwrite: false,
    });
    // After 25 moves, another program changes one of them, and takes the place of the last.
    const progress = () => {
      writeFileSync(at("to/f33"), "changed");
      writeFileSync(at("to/f35"), "theirs");
    };
    const refusal = await files.runPlan(planned, { progress }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      kind: "conflict",
      hint: expect.stringContaining("skip_changed"),
    });
    const id = /change (\w{9}-\w{6})/.exec(String(refusal))?.[1] ?? "";
    expect((await files.changes()).map(({ id }) => id)).toContain(id);
    expect(await list("to")).toEqual(["f33", "f35"]);
    expect(await list()).toHaveLength(26);
  });

  it("takes everything back if the call is cancelled", async () => {
    const { files, put, root } = await scratch();
    for (let i = 0; i < 60; i++) await put(`f${i}`, "x");
    const before = await snapshot(root);
    const planned = await files.plan({
      action: "move",
      source: "f*",
      destination: "to/$0",
      overwrite: false,
    });
    const stop = new AbortController();
    const progress = () => stop.abort(new Error("cancelled"));
    await expect(files.runPlan(planned, { progress, signal: stop.signal })).rejects.toThrow(
      "cancelled",
    );
    expect(await snapshot(root)).toEqual(before);
  });

  it("replaces with overwrite, also through links, and restores what it replaced", async () => {
    const { files, put, at, root } = await scratch();
    await put("in/a", "new a");
    await put("in/b", "new b");
    await put("out/a", "old a");
    await symlink("a", at("out/b"));
    const before = await snapshot(root);
    const request = { source: "in/*", destination: "out/$1", overwrite: true };
    const answer = await use(moveFile, files, request);
    expect(answer).toContain("2 files replaced");
    await use(undoChange, files, { id: changeOf(answer) });
    expect(await snapshot(root)).toEqual(before);
  });

  it("undoes all or nothing, names what has changed since, and skips it on request", async () => {
    const { files, put, read, list } = await scratch();
    for (const name of ["a", "b", "c"]) await put(name, name);
    const moves = ["a", "b", "c"].map((source) => ({ source, destination: `to/${source}` }));
    const id = changeOf(await use(moveFile, files, { moves }));
    await put("to/b", "changed since");
    const refusal = use(undoChange, files, { id });
    await expect(refusal).rejects.toThrow("Nothing was undone: 1 of 4 steps cannot be undone.");
    await expect(refusal).rejects.toThrow('to/b" has changed since');
    expect(await list("to")).toEqual(["a", "b", "c"]);
    const undone = await use(undoChange, files, { id, skip_changed: true });
    expect(undone).toContain("2 steps undone. 1 step left");
    expect(await list()).toEqual(["a", "c", "to"]);
    expect(await read("to/b")).toBe("changed since");
    const again = use(undoChange, files, { id, skip_changed: true });
    await expect(again).rejects.toMatchObject({
      kind: "conflict",
      message: `Change ${id} was already undone by change ${changeOf(undone)}.`,
      hint: `To redo it, undo ${changeOf(undone)}.`,
    });
    expect(await list()).toEqual(["a", "c", "to"]);
  });

  it("copies many files and directories, and undoes it", async () => {
    const { files, put, root, read } = await scratch();
    await put("a", "a");
    await put("d/e", "e");
    const before = await snapshot(root);
    const moves = [
      { source: "a", destination: "copies/a" },
      { source: "d", destination: "copies/d" },
    ];
    const answer = await use(copyFile, files, { moves });
    expect(await read("copies/d/e")).toBe("e");
    expect(await read("a")).toBe("a");
    await use(undoChange, files, { id: changeOf(answer) });
    expect(await snapshot(root)).toEqual(before);
  });
});

import { existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { commitFiles, failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");
beforeEach(() => {
  const names = [
    "a/one",
    "a/b/two",
    "a/c/three",
    "d/four",
    "d/e/five",
    '"q/six',
    "back\\slash/seven",
  ];
  commitFiles(sample().root, "Directories", Object.fromEntries(names.map((name) => [name, "x\n"])));
});

describe("git_sparse_checkout", () => {
  it("sets, adds, lists and disables directories, and counts the files", async () => {
    const { call, root, git } = sample();
    const all = git("ls-files").trim().split("\n").length;
    const is = (path: string) => existsSync(join(root, path));
    expect((await call("git_sparse_checkout")).data).toEqual({ files: all, of: all });
    const set = await call("git_sparse_checkout", { action: "set", directories: ["a/b", "src"] });
    expect(set.data).toMatchObject({ directories: ["a/b", "src"], came: 0, of: all });
    expect(["a/one", "a/b/two", "a/c/three", "d/four", "README.md"].map(is)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ]);
    expect(set.data.left).toBe(all - Number(set.data.files));
    const added = await call("git_sparse_checkout", { action: "add", directories: ["d"] });
    expect(added.data).toMatchObject({ directories: ["a/b", "d", "src"], left: 0, came: 2 });
    expect(added.data.undo).toContain("directories a/b, src");
    expect((await call("git_sparse_checkout")).data).toMatchObject({
      directories: ["a/b", "d", "src"],
    });
    expect(String((await call("git_status")).data.notes)).toContain("a/b");
    const odd = await call("git_sparse_checkout", {
      action: "set",
      directories: ['"q', "back\\slash"],
    });
    expect(['"q/six', "back\\slash/seven", "d/four"].map(is)).toEqual([true, true, false]);
    expect(odd.data.left).toBeGreaterThan(0);
    const { data } = await call("git_sparse_checkout", { action: "disable" });
    expect(data).toMatchObject({ files: all, of: all, left: 0 });
    expect(git("status", "--porcelain")).toBe("");
  });

  it.each([
    ["changed", "d/four"],
    ["new", "d/new.txt"],
    ["ignored", "d/e/build.log"],
  ])("refuses to lose a %s file", async (_, path) => {
    const { call, root, write, git } = sample();
    write(path, "mine\n");
    const before = git("ls-files", "-t");
    const error = await failureOf(
      call("git_sparse_checkout", { action: "set", directories: ["a"] }),
    );
    expect(error.code).toBe("sparse_files");
    expect(error.message).toContain(path);
    expect(readFileSync(join(root, path), "utf8")).toBe("mine\n");
    expect(git("ls-files", "-t")).toBe(before);
  });

  it("removes files whose times differ from the index, as in a copied repository", async () => {
    const { call, root } = sample();
    utimesSync(join(root, "d/four"), 1, 1);
    await call("git_sparse_checkout", { action: "set", directories: ["a"] });
    expect(existsSync(join(root, "d/four"))).toBe(false);
  });

  it("plain git deletes an ignored file, which is why that is refused", async () => {
    const { root, write, git } = sample();
    write("d/e/build.log", "mine\n");
    git("sparse-checkout", "set", "--cone", "--sparse-index", "a");
    expect(existsSync(join(root, "d/e/build.log"))).toBe(false);
  });

  it("refuses files, unknown directories, and to add to patterns or to a full checkout", async () => {
    const { call, git } = sample();
    const refused = async (args: object) =>
      (await failureOf(call("git_sparse_checkout", { ...args }))).code;
    for (const directories of [["README.md"], ["nothing"], ["../x"], ["--stdin"]])
      expect(await refused({ action: "set", directories }), directories[0]).toBe("bad_path");
    expect(await refused({ action: "set" })).toBe("bad_path");
    expect(await refused({ action: "add", directories: ["a"] })).toBe("bad_path");
    git("sparse-checkout", "set", "--no-cone", "*.md");
    expect(await refused({ action: "add", directories: ["a"] })).toBe("bad_path");
    expect((await call("git_sparse_checkout")).data.patterns).toEqual(["*.md"]);
  });
});

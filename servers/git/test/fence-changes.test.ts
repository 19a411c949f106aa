import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { at, emptyRepository, place, useTestDirectory } from "./fixture.ts";
import { submodule } from "./traps.ts";

// What a change may never lose or leave undone without a word.
useTestDirectory();

let counter = 0;
function repository(files: Readonly<Record<string, string>> = { "a.txt": "a\n" }) {
  const made = at(emptyRepository(place.path(`repo-${counter++}`)));
  made.commit("First", files);
  /** Calls a tool for a user who agrees; returns its data, its error and the question. */
  async function call(tool: string, args: object = {}) {
    const asked = fakeCall({ agrees: true });
    const failed = ({ message }: Error) => ({ data: {} as Record<string, unknown>, text: message });
    const { data, text } = await made.call(tool, args, asked).catch(failed);
    return { data, text, question: asked.questions.at(-1) };
  }
  return { ...made, call };
}

describe("a file with more than a million changed lines", () => {
  const HUGE = "x\n".repeat(1_100_000);

  it("does not keep git_add and git_reset from other files", async () => {
    const { call, git, write } = repository({ "dump.sql": "x\n", "small.txt": "a\n" });
    write("dump.sql", HUGE);
    write("small.txt", "b\n");
    await call("git_add", { files: ["small.txt"] });
    expect(git("diff", "--cached", "--name-only")).toBe("small.txt\n");
    git("add", "dump.sql");
    await call("git_reset", { files: ["small.txt"] });
    expect(git("diff", "--cached", "--name-only")).toBe("dump.sql\n");
    await call("git_reset");
    expect(git("diff", "--cached", "--name-only")).toBe("");
  });
});

describe("git_clean", () => {
  it("says which files it did not delete: those whose names are not UTF-8", async () => {
    const { root, call, write } = repository();
    write("new.txt", "new\n");
    writeFileSync(Buffer.from(`${root}/caf\xe9`, "latin1"), "coffee\n");
    const { data, question } = await call("git_clean");
    expect(data).toMatchObject({ files: ["new.txt"], count: 1, done: "Deleted 1 untracked file." });
    expect(JSON.stringify(data.notes)).toContain("caf\\\\351");
    expect(question).toContain("Delete 1 untracked file: new.txt ");
    expect(readdirSync(root)).toHaveLength(3);
    expect((await call("git_clean")).text).toContain("caf\\351");
  });
});

describe("an untracked file is never lost", () => {
  const FILES = { ".env": "SECRET\n", d: "SECRET\n", "e/x": "SECRET\n" };
  /** The branch side has `.env`, a file `d/b` and a file `e`; here these are ignored: a file, a file `d` and a directory `e`. */
  function ignored() {
    const made = repository({ "a.txt": "a\n", ".gitignore": ".env\nd\ne\n" });
    const { commit, git, read, write } = made;
    const plant = () => {
      for (const [path, content] of Object.entries(FILES)) write(path, content);
    };
    git("checkout", "--quiet", "-b", "side");
    for (const path of [".env", "d/b", "e"]) write(path, "theirs\n");
    git("add", "--force", ".env", "d", "e");
    commit("Side");
    git("checkout", "--quiet", "main");
    commit("Main", { "a.txt": "main\n" });
    plant();
    return { ...made, plant, secrets: () => Object.keys(FILES).map(read) };
  }
  const SECRETS = Object.values(FILES);

  it.each([
    ["git_merge", { revision: "side" }],
    ["git_cherry_pick", { commits: ["side"] }],
    ["git_rebase", { onto: "side", on_conflict: "keep" }],
    ["git_stash_apply", {}],
    ["git_revert", { commit: "HEAD" }],
  ] as const)("by %s %o", async (tool, args) => {
    const { root, call, commit, git, id, plant, secrets } = ignored();
    if (tool === "git_stash_apply" || tool === "git_revert") {
      for (const path of ["d", "e"]) rmSync(join(root, path), { recursive: true });
      git("checkout", "--quiet", "side", "--", ".env", "d/b", "e");
      if (tool === "git_stash_apply") git("stash", "push", "--quiet");
      else {
        commit("Add");
        git("rm", "-r", "--quiet", ".env", "d", "e");
        commit("Remove");
      }
      plant();
    }
    const before = id("HEAD");
    const { text } = await call(tool, args);
    expect(secrets()).toEqual(SECRETS);
    expect(text).toContain("would be overwritten: .env, d, e/x");
    expect(id("HEAD")).toBe(before);
  });

  it("by a rebase of commits that add and remove it", async () => {
    const { call, commit, git, read, write } = repository();
    git("branch", "onto");
    commit("Add", { ".env": "public\n" });
    git("rm", "--quiet", ".env");
    commit("Remove", { ".gitignore": ".env\n" });
    git("checkout", "--quiet", "onto");
    commit("Onto", { "b.txt": "b\n" });
    git("checkout", "--quiet", "main");
    write(".env", "SECRET\n");
    const { text } = await call("git_rebase", { onto: "onto", on_conflict: "keep" });
    expect(read(".env")).toBe("SECRET\n");
    expect(text).toContain("would be overwritten: .env");
  });

  it("but one that the other side has not changed stops no merge", async () => {
    const { call, commit, git, read, write } = repository({ ".env": "old\n" });
    git("checkout", "--quiet", "-b", "side");
    commit("Side", { "b.txt": "b\n" });
    git("checkout", "--quiet", "main");
    git("rm", "--quiet", "--cached", ".env");
    commit("Ignore it", { ".gitignore": ".env\n" });
    write(".env", "SECRET\n");
    await call("git_merge", { revision: "side" });
    expect(read("b.txt")).toBe("b\n");
    expect(read(".env")).toBe("SECRET\n");
  });

  it("by git_reset_hard, which says so and keeps it", async () => {
    const { call, git, id, secrets, write } = ignored();
    write("X", "SECRET\n");
    git("update-index", "--refresh");
    git("branch", "target", "side");
    const head = id("HEAD");
    const { data, question } = await call("git_reset_hard", { revision: "target" });
    expect(question).toContain("It overwrites 3 untracked files: .env, d, e/x.");
    expect(data).toMatchObject({ count: 3, files: [".env", "d", "e/x"] });
    const [, source = ""] = /git_restore with source (\S+) /.exec(String(data.notes)) ?? [];
    await call("git_reset_hard", { revision: head });
    await call("git_restore", { source, files: data.files });
    expect(secrets()).toEqual(SECRETS);
  });
});

describe("a repository in the working tree is never overwritten", () => {
  it.each([
    ["git_restore", "dep", { source: "HEAD~1", files: ["dep"] }],
    ["git_restore", "dep/wip.txt", { source: "HEAD~1", files: ["dep/wip.txt"] }],
    ["git_reset_hard", "dep", { revision: "HEAD~1" }],
    ["git_reset_hard", "dep/wip.txt", { revision: "HEAD~1" }],
  ])("by %s of %s", async (tool, path, args) => {
    const { root, call, commit, git, read, write } = repository({ [path]: "old\n" });
    git("rm", "--quiet", "-r", "dep");
    commit("Remove");
    const own = at(emptyRepository(join(root, "dep")));
    own.commit("Own", { "own.txt": "own\n" });
    write("dep/wip.txt", "SECRET\n");
    const { text } = await call(tool, args);
    expect(text).toContain("would be overwritten: dep");
    expect(read("dep/wip.txt")).toBe("SECRET\n");
    expect(own.git("show", "HEAD:own.txt")).toBe("own\n");
  });
});

it("git_reset_hard and its undo leave a submodule unchanged", async () => {
  const { root, call } = repository();
  submodule(root);
  const { data } = await call("git_reset_hard", { revision: "HEAD~1" });
  expect(existsSync(join(root, ".gitmodules"))).toBe(false);
  const undone = await call("git_reset_hard", { revision: data.before });
  expect(undone.data.done).toContain(String(data.before));
  expect(existsSync(join(root, "sub/.git"))).toBe(true);
});

it("git_restore names the file that it replaced by a directory", async () => {
  const { call, commit, git, read, write } = repository({ "a.txt": "a\n", "d/x": "x\n" });
  git("rm", "--quiet", "-r", "d");
  commit("Remove");
  write("d", "SECRET\n");
  const { data } = await call("git_restore", { source: "HEAD~1", files: ["d/x"] });
  expect(data.undo).toBe(`git_restore with source ${data.recovery} and d`);
  await call("git_restore", { source: data.recovery, files: ["d"] });
  expect(read("d")).toBe("SECRET\n");
});

it.each(["--assume-unchanged", "--skip-worktree"])(
  "git_delete of a worktree refuses a file that git does not compare (%s)",
  async (mark) => {
    const { root, call, git } = repository();
    const linked = at(`${root}-linked`);
    const name = linked.root;
    git("worktree", "add", "--quiet", "-b", "linked", name);
    linked.git("update-index", mark, "a.txt");
    linked.write("a.txt", "SECRET\n");
    const { text } = await call("git_delete", { kind: "worktree", name });
    expect(linked.read("a.txt")).toBe("SECRET\n");
    expect(text).toContain("a.txt");
    linked.git("update-index", `--no${mark.slice(1)}`, "a.txt");
    const { data } = await call("git_delete", { kind: "worktree", name });
    expect(git("show", `${data.recovery}:a.txt`)).toBe("SECRET\n");
  },
);

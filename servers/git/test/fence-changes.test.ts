import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import {
  callTool,
  commitFiles,
  emptyRepository,
  git,
  gitOver,
  place,
  useTestDirectory,
  write,
} from "./fixture.ts";
import { submodule } from "./traps.ts";

// What a change may never lose or leave undone without a word.
useTestDirectory();

let counter = 0;
/** Calls a tool for a user who agrees; returns its data, its error and the question. */
async function call(tool: string, root: string, args: object = {}) {
  const asked = fakeCall({ agrees: true });
  const answer = callTool(gitOver([place.folder]), tool, { repo_path: root, ...args }, asked);
  const { data, text } = await answer.catch(({ message }) => ({
    data: {} as never,
    text: message,
  }));
  return { data, text: String(text), question: asked.questions.at(-1) };
}

function repository(files: Readonly<Record<string, string>> = { "a.txt": "a\n" }): string {
  const root = emptyRepository(place.path(`repo-${counter++}`));
  commitFiles(root, "First", files);
  return root;
}

describe("a file with more than a million changed lines", () => {
  const HUGE = "x\n".repeat(1_100_000);

  it("does not keep git_add and git_reset from other files", async () => {
    const root = repository({ "dump.sql": "x\n", "small.txt": "a\n" });
    write(root, "dump.sql", HUGE);
    write(root, "small.txt", "b\n");
    await call("git_add", root, { files: ["small.txt"] });
    expect(git(root, "diff", "--cached", "--name-only")).toBe("small.txt\n");
    git(root, "add", "dump.sql");
    await call("git_reset", root, { files: ["small.txt"] });
    expect(git(root, "diff", "--cached", "--name-only")).toBe("dump.sql\n");
    await call("git_reset", root);
    expect(git(root, "diff", "--cached", "--name-only")).toBe("");
  });
});

describe("git_clean", () => {
  it("says which files it did not delete: those whose names are not UTF-8", async () => {
    const root = repository();
    write(root, "new.txt", "new\n");
    writeFileSync(Buffer.from(`${root}/caf\xe9`, "latin1"), "coffee\n");
    const { data, question } = await call("git_clean", root);
    expect(data).toMatchObject({ files: ["new.txt"], count: 1, done: "Deleted 1 untracked file." });
    expect(JSON.stringify(data.notes)).toContain("caf\\\\351");
    expect(question).toContain("Delete 1 untracked file: new.txt ");
    expect(readdirSync(root)).toHaveLength(3);
    expect((await call("git_clean", root)).text).toContain("caf\\351");
  });
});

describe("an untracked file is never lost", () => {
  /** The branch side has `.env`, a file `d/b` and a file `e`; here these are ignored: a file, a file `d` and a directory `e`. */
  function ignored(): string {
    const root = repository({ "a.txt": "a\n", ".gitignore": ".env\nd\ne\n" });
    git(root, "checkout", "--quiet", "-b", "side");
    write(root, ".env", "theirs\n");
    write(root, "d/b", "theirs\n");
    write(root, "e", "theirs\n");
    git(root, "add", "--force", ".env", "d", "e");
    git(root, "commit", "--quiet", "-m", "Side");
    git(root, "checkout", "--quiet", "main");
    commitFiles(root, "Main", { "a.txt": "main\n" });
    return plant(root);
  }
  const FILES = { ".env": "SECRET\n", d: "SECRET\n", "e/x": "SECRET\n" };
  function plant(root: string): string {
    for (const [path, content] of Object.entries(FILES)) write(root, path, content);
    return root;
  }
  const secrets = (root: string) =>
    Object.keys(FILES).filter((path) => readFileSync(join(root, path), "utf8") === "SECRET\n");

  it.each([
    ["git_merge", { revision: "side" }],
    ["git_cherry_pick", { commits: ["side"] }],
    ["git_rebase", { onto: "side", on_conflict: "keep" }],
    ["git_stash_apply", {}],
    ["git_revert", { commit: "HEAD" }],
  ] as const)("by %s %o", async (tool, args) => {
    const root = ignored();
    if (tool === "git_stash_apply" || tool === "git_revert") {
      for (const path of ["d", "e"]) rmSync(join(root, path), { recursive: true });
      git(root, "checkout", "--quiet", "side", "--", ".env", "d/b", "e");
      if (tool === "git_stash_apply") git(root, "stash", "push", "--quiet");
      else {
        git(root, "commit", "--quiet", "-m", "Add");
        git(root, "rm", "-r", "--quiet", ".env", "d", "e");
        git(root, "commit", "--quiet", "-m", "Remove");
      }
      plant(root);
    }
    const before = git(root, "rev-parse", "HEAD");
    const { text } = await call(tool, root, args);
    expect(secrets(root)).toEqual(Object.keys(FILES));
    expect(text).toContain("would be overwritten: .env, d, e/x");
    expect(git(root, "rev-parse", "HEAD")).toBe(before);
  });

  it("by a rebase of commits that add and remove it", async () => {
    const root = repository({ "a.txt": "a\n" });
    git(root, "branch", "onto");
    commitFiles(root, "Add", { ".env": "public\n" });
    git(root, "rm", "--quiet", ".env");
    commitFiles(root, "Remove", { ".gitignore": ".env\n" });
    git(root, "checkout", "--quiet", "onto");
    commitFiles(root, "Onto", { "b.txt": "b\n" });
    git(root, "checkout", "--quiet", "main");
    write(root, ".env", "SECRET\n");
    const { text } = await call("git_rebase", root, { onto: "onto", on_conflict: "keep" });
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("SECRET\n");
    expect(text).toContain("would be overwritten: .env");
  });

  it("but one that the other side has not changed stops no merge", async () => {
    const root = repository({ ".env": "old\n", "a.txt": "a\n" });
    git(root, "checkout", "--quiet", "-b", "side");
    commitFiles(root, "Side", { "b.txt": "b\n" });
    git(root, "checkout", "--quiet", "main");
    git(root, "rm", "--quiet", "--cached", ".env");
    commitFiles(root, "Ignore it", { ".gitignore": ".env\n" });
    write(root, ".env", "SECRET\n");
    await call("git_merge", root, { revision: "side" });
    expect(existsSync(join(root, "b.txt"))).toBe(true);
    expect(readFileSync(join(root, ".env"), "utf8")).toBe("SECRET\n");
  });

  it("by git_reset_hard, which says so and keeps it", async () => {
    const root = ignored();
    write(root, "X", "SECRET\n");
    git(root, "update-index", "--refresh");
    git(root, "branch", "target", "side");
    const head = git(root, "rev-parse", "HEAD").trim();
    const { data, question } = await call("git_reset_hard", root, { revision: "target" });
    expect(question).toContain("It overwrites 3 untracked files: .env, d, e/x.");
    expect(data).toMatchObject({ count: 3, files: [".env", "d", "e/x"] });
    const [, source = ""] = /git_restore with source (\S+) /.exec(String(data.notes)) ?? [];
    await call("git_reset_hard", root, { revision: head });
    await call("git_restore", root, { source, files: data.files });
    expect(secrets(root)).toEqual(Object.keys(FILES));
  });
});

describe("a repository in the working tree is never overwritten", () => {
  it.each([
    ["git_restore", "dep", { source: "HEAD~1", files: ["dep"] }],
    ["git_restore", "dep/wip.txt", { source: "HEAD~1", files: ["dep/wip.txt"] }],
    ["git_reset_hard", "dep", { revision: "HEAD~1" }],
    ["git_reset_hard", "dep/wip.txt", { revision: "HEAD~1" }],
  ])("by %s of %s", async (tool, path, args) => {
    const root = repository({ "a.txt": "a\n", [path]: "old\n" });
    git(root, "rm", "--quiet", "-r", "dep");
    git(root, "commit", "--quiet", "-m", "Remove");
    commitFiles(emptyRepository(join(root, "dep")), "Own", { "own.txt": "own\n" });
    write(root, "dep/wip.txt", "SECRET\n");
    const { text } = await call(tool, root, args);
    expect(text).toContain("would be overwritten: dep");
    expect(readFileSync(join(root, "dep/wip.txt"), "utf8")).toBe("SECRET\n");
    expect(git(join(root, "dep"), "show", "HEAD:own.txt")).toBe("own\n");
  });
});

it("git_reset_hard and its undo leave a submodule unchanged", async () => {
  const root = repository();
  submodule(root);
  const { data } = await call("git_reset_hard", root, { revision: "HEAD~1" });
  expect(existsSync(join(root, ".gitmodules"))).toBe(false);
  const undone = await call("git_reset_hard", root, { revision: data.before });
  expect(undone.data.done).toContain(String(data.before));
  expect(existsSync(join(root, "sub/.git"))).toBe(true);
});

it("git_restore names the file that it replaced by a directory", async () => {
  const root = repository({ "a.txt": "a\n", "d/x": "x\n" });
  git(root, "rm", "--quiet", "-r", "d");
  git(root, "commit", "--quiet", "-m", "Remove");
  write(root, "d", "SECRET\n");
  const { data } = await call("git_restore", root, { source: "HEAD~1", files: ["d/x"] });
  expect(data.undo).toBe(`git_restore with source ${data.recovery} and d`);
  await call("git_restore", root, { source: data.recovery, files: ["d"] });
  expect(readFileSync(join(root, "d"), "utf8")).toBe("SECRET\n");
});

describe("git_delete of a worktree", () => {
  it.each(["--assume-unchanged", "--skip-worktree"])(
    "refuses a file that git does not compare (%s)",
    async (mark) => {
      const root = repository();
      const linked = `${root}-linked`;
      git(root, "worktree", "add", "--quiet", "-b", "linked", linked);
      git(linked, "update-index", mark, "a.txt");
      write(linked, "a.txt", "SECRET\n");
      const { text } = await call("git_delete", root, { kind: "worktree", name: linked });
      expect(readFileSync(join(linked, "a.txt"), "utf8")).toBe("SECRET\n");
      expect(text).toContain("a.txt");
      git(linked, "update-index", `--no${mark.slice(1)}`, "a.txt");
      const { data } = await call("git_delete", root, { kind: "worktree", name: linked });
      expect(git(root, "show", `${data.recovery}:a.txt`)).toBe("SECRET\n");
    },
  );
});

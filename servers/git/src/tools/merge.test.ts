import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callTool, commitFiles, failureOf, gitOver, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_merge", () => {
  it("merges, and reports the merged commits", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD").trim();
    const { data } = await call("git_merge", { revision: "feature" });
    expect(data).toMatchObject({
      before,
      after: git("rev-parse", "HEAD").trim(),
      files: [
        { path: "src/app.ts", status: "modified" },
        { path: "src/feature.ts", status: "added" },
      ],
    });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Merge feature");
  });

  it("mentions only offered tools in undo and hints, and otherwise terminal commands", async () => {
    const { root, place, git } = sample();
    const over = gitOver([place.folder], {
      offers: (name) => !/^git_(reset_hard|add|init)$/.test(name),
    });
    const before = git("rev-parse", "HEAD").trim();
    const { data } = await callTool(over, "git_merge", { repo_path: root, revision: "feature" });
    expect(data.undo).toBe(`git reset --hard with revision ${before} (in a terminal).`);
    const conflict = await failureOf(
      callTool(over, "git_merge", { repo_path: root, revision: "conflicting" }),
    );
    expect(conflict.code).toBe("conflict");
    expect(conflict.hint).toMatch(/ git add and git_commit \(in a terminal\)\.$/);
    const nowhere = await failureOf(callTool(over, "git_status", { repo_path: place.folder }));
    expect(nowhere.hint).toMatch(/ git init creates a new one \(in a terminal\)\.$/);
  });

  it("aborts on conflicts, and lists the files", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD");
    const error = await failureOf(call("git_merge", { revision: "conflicting" }));
    expect(error).toMatchObject({ kind: "conflict", code: "conflict" });
    expect(error.message).toContain("src/app.ts");
    expect(git("rev-parse", "HEAD")).toBe(before);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("leaves conflicts to resolve on request", async () => {
    const { call, root } = sample();
    const { data } = await call("git_merge", { revision: "conflicting", on_conflict: "keep" });
    expect(data.conflicted).toEqual(["src/app.ts"]);
    expect(data.conflicts).toEqual([
      {
        path: "src/app.ts",
        kind: "both modified",
        hunks: [{ line: 2, base: "two\n", ours: "OURS\n", theirs: "THEIRS\n" }],
      },
    ]);
    expect(data.applying).toMatch(/^\w{10} Other line$/);
    expect((await failureOf(call("git_merge", { action: "skip" }))).code).toBe("no_operation");
    expect(readFileSync(`${root}/src/app.ts`, "utf8")).toContain("<<<<<<<");
    const { data: status } = await call("git_status");
    expect(status).toMatchObject({
      operation: "merge",
      conflicted: [{ path: "src/app.ts", status: "both modified" }],
    });
    expect((await failureOf(call("git_merge", { revision: "feature" }))).code).toBe(
      "operation_in_progress",
    );
  });

  it("fast-forwards only, never, or if possible", async () => {
    const { call, git } = sample();
    expect(
      (await failureOf(call("git_merge", { revision: "feature", fast_forward: "only" }))).code,
    ).toBe("not_fast_forward");
    git("checkout", "--quiet", "-b", "behind", "v0.9");
    const forward = await call("git_merge", { revision: "feature" });
    expect(forward.data.fast_forward).toBe(true);
    expect((await call("git_merge", { revision: "feature" })).data.up_to_date).toBe(true);
    git("reset", "--quiet", "--hard", "v0.9");
    await call("git_merge", { revision: "feature", fast_forward: "never", message: "Bring it in" });
    expect(git("log", "-1", "--format=%s %p").trim()).toMatch(/^Bring it in \w+ \w+$/);
  });

  it("stages a branch as one change without a commit (squash), and its undo works", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD").trim();
    const { data } = await call("git_merge", {
      revision: "feature",
      squash: true,
      fast_forward: "never",
    });
    expect(data).toMatchObject({ before, after: before, count: 2 });
    expect(data.up_to_date).toBeUndefined();
    expect(git("diff", "--cached", "--name-only").trim().split("\n")).toEqual([
      "src/app.ts",
      "src/feature.ts",
    ]);
    const files = (data.files as { path: string }[]).map(({ path }) => path);
    await call("git_restore", { files, source: "HEAD", staged: true });
    expect(git("status", "--porcelain")).toBe("");
    await call("git_merge", { revision: "feature", squash: true });
    await call("git_commit", { message: "Feature" });
    expect(git("log", "-1", "--format=%P").trim()).toBe(before);
    expect((await call("git_merge", { revision: "v0.9", squash: true })).data.up_to_date).toBe(
      true,
    );
    const named = call("git_merge", { revision: "feature", squash: true, message: "x" });
    expect((await failureOf(named)).code).toBe("bad_message");
  });

  it("squash aborts on conflicts, or leaves them to resolve", async () => {
    const { call, git, write } = sample();
    const conflicting = { revision: "conflicting", squash: true };
    write("README.md", "mine\n");
    const before = git("status", "--porcelain");
    expect((await failureOf(call("git_merge", conflicting))).message).toContain("src/app.ts");
    expect(git("status", "--porcelain")).toBe(before);
    const { data } = await call("git_merge", { ...conflicting, on_conflict: "keep" });
    expect(data.conflicted).toEqual(["src/app.ts"]);
  });

  it("does not overwrite local changes", async () => {
    const { call, write } = sample();
    write("src/app.ts", "mine\n");
    expect((await failureOf(call("git_merge", { revision: "feature" }))).code).toBe(
      "local_changes",
    );
  });

  it("ends an operation in progress: continues once conflicts are resolved, or aborts and keeps the files' content", async () => {
    const { call, git, write, root } = sample();
    await call("git_merge", { revision: "conflicting", on_conflict: "keep" });
    expect((await failureOf(call("git_stash"))).code).toBe("operation_in_progress");
    expect((await failureOf(call("git_merge", { action: "continue" }))).code).toBe("conflict");
    write("src/app.ts", "half resolved\n");
    const { data } = await call("git_merge", { action: "abort" });
    expect(git("status", "--porcelain")).toBe("");
    const [, ref = ""] = /source (\w+)\.?$/.exec(String(data.notes)) ?? [];
    await call("git_restore", { files: ["src/app.ts"], source: ref });
    expect(readFileSync(`${root}/src/app.ts`, "utf8")).toBe("half resolved\n");
    git("checkout", "--quiet", "src/app.ts");
    expect((await failureOf(call("git_merge", { action: "abort" }))).code).toBe("no_operation");
    await call("git_cherry_pick", { commits: ["conflicting"], on_conflict: "keep" });
    write("src/app.ts", "resolved\n");
    await call("git_add", { files: ["src/app.ts"] });
    const other = await failureOf(call("git_merge", { action: "continue" }));
    expect(other).toMatchObject({
      code: "no_operation",
      hint: expect.stringContaining("git_cherry_pick"),
    });
    const done = await call("git_cherry_pick", { action: "continue" });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Other line");
    expect(done.data).toMatchObject({ after: git("rev-parse", "HEAD").trim(), count: 1 });
    expect((await failureOf(call("git_merge"))).code).toBe("bad_argument");
  });

  it("describes deleted, binary, large and many conflicting files within its budget", async () => {
    const { call, git, root } = sample();
    const many = (text: string) =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [`many/${index}.txt`, `${text} ${index}\n`]),
      );
    const big = (text: string) => `${text.repeat(300_000)}\n`;
    const files = (text: string) => ({ ...many(text), "a.bin": `\0${text}`, "b.txt": big(text) });
    commitFiles(root, "Base", { ...files("base"), "gone.txt": "base\n" });
    git("checkout", "--quiet", "-b", "theirs");
    commitFiles(root, "Theirs", { ...files("theirs"), "gone.txt": "theirs\n" });
    git("checkout", "--quiet", "main");
    git("rm", "--quiet", "gone.txt");
    commitFiles(root, "Ours", files("ours"));
    const { data, text } = await call("git_merge", { revision: "theirs", on_conflict: "keep" });
    expect(text.length).toBeLessThan(22_000);
    expect(data.conflicted).toHaveLength(43);
    expect(data.conflicts).toMatchObject([
      {
        path: "a.bin",
        base: "binary, 5 bytes",
        ours: "binary, 5 bytes",
        theirs: "binary, 7 bytes",
      },
      { path: "b.txt", hunks: [{ line: 1, ours: expect.stringMatching(/more characters\)$/) }] },
      { path: "gone.txt", kind: "deleted by us", base: "base\n", theirs: "theirs\n" },
      ...Array.from({ length: 17 }, () => ({ kind: "both modified" })),
    ]);
  });
});

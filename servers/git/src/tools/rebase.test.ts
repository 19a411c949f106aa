import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { commitFiles, failureOf, git as gitIn, useSample } from "../../test/fixture.ts";
import { hooksInto } from "../../test/traps.ts";

const sample = useSample("clean");

/** The sample with commits a, b, c and d on main; each adds a file and changes the same line of another. */
function withCommits() {
  const one = sample();
  for (const name of ["a", "b", "c", "d"])
    commitFiles(one.root, `Add ${name}`, {
      [`${name}.txt`]: `${name}\n`,
      "src/line.ts": `top\n${name}\nend\n`,
    });
  const state = () =>
    one.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash") +
    one.git("status", "--porcelain") +
    one.git("ls-files", "-s") +
    one.git("rev-parse", "HEAD");
  const subjects = () => one.git("log", "--reverse", "--format=%s", "v1.0..").trim().split("\n");
  return { ...one, state, subjects, head: one.git("rev-parse", "HEAD").trim() };
}

/** A step for each of the last commits, oldest first. */
const picks = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    return { commit: `HEAD~${count - 1 - index}`, action: "pick" };
  });

describe("git_rebase", () => {
  it("previews and moves nothing, then applies exactly that, and its undo works", async () => {
    const { call, git, state, subjects, head } = withCommits();
    const unchanged = state();
    const steps = [
      { commit: "HEAD~3", action: "reword", message: "New a" },
      { commit: "HEAD~1", action: "squash", message: "Both\n\nWith a body" },
    ];
    const [first, second] = steps;
    const all = [first, { commit: "HEAD~2", action: "pick" }, second, ...picks(1)];
    const { data } = await call("git_rebase", { steps: all });
    expect(state()).toBe(unchanged);
    expect(data).toMatchObject({ branch: "main", before: head, applied: false, identical: true });
    expect(String(data.range_diff)).toContain("+    New a");
    const { data: done } = await call("git_rebase", { apply: data.plan });
    expect(done).toMatchObject({ applied: true, before: head, after: data.after });
    expect(git("rev-parse", "HEAD").trim()).toBe(data.after);
    expect(subjects()).toEqual(["New a", "Both", "Add d"]);
    expect(git("log", "-1", "--format=%B", "HEAD~1").trim()).toBe("Both\n\nWith a body");
    expect(git("diff", "--stat", head)).toBe("");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-parse", String(done.recovery)).trim()).toBe(head);
    const [, undo] = /apply (\w+ [\w.]+)/.exec(String(done.undo)) ?? [];
    await call("git_rebase", { apply: undo });
    expect(git("rev-parse", "HEAD").trim()).toBe(head);
  });

  it("keeps unchanged commits, authors and dates", async () => {
    const { call, git } = withCommits();
    git("commit", "--quiet", "--allow-empty", "--author=Ada <ada@example.org>", "-m", "Café");
    const facts = () => git("log", "-1", "--format=%T %an <%ae> %ad %B");
    const original = facts();
    const { data } = await call("git_rebase", {
      steps: [{ commit: "HEAD~2", action: "reword", message: "New c" }, ...picks(2)],
    });
    await call("git_rebase", { apply: data.plan });
    expect(facts()).toBe(original);
  });

  it("combines a commit with the one before it, and drops one", async () => {
    const { call, git, subjects, root } = withCommits();
    const fixed = await call("git_rebase", {
      steps: [
        { commit: "HEAD~1", action: "pick" },
        { commit: "HEAD", action: "fixup" },
      ],
    });
    expect(fixed.data.identical).toBe(true);
    expect(git("log", "-1", "--format=%s", String(fixed.data.after)).trim()).toBe("Add c");
    const { data } = await call("git_rebase", { steps: [{ commit: "HEAD", action: "drop" }] });
    expect(data).toMatchObject({
      identical: false,
      files: [
        { path: "d.txt", status: "deleted" },
        { path: "src/line.ts", status: "modified" },
      ],
    });
    await call("git_rebase", { apply: data.plan });
    expect(subjects()).toEqual(["Add a", "Add b", "Add c"]);
    expect(readFileSync(join(root, "src/line.ts"), "utf8")).toBe("top\nc\nend\n");
    expect(git("status", "--porcelain")).toBe("");
  });

  it("reports conflicts as data, and changes nothing", async () => {
    const { call, state } = withCommits();
    const unchanged = state();
    const steps = ["HEAD~1", "HEAD", "HEAD~2", "HEAD~3"].map((commit) => {
      return { commit, action: "pick" };
    });
    const { data } = await call("git_rebase", { steps });
    expect(data.plan).toBeUndefined();
    expect(data.conflicted).toEqual(["src/line.ts"]);
    expect(state()).toBe(unchanged);
  });

  it("moves the commits of a branch that is not checked out onto another commit", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD") + git("status", "--porcelain");
    const { data } = await call("git_rebase", { branch_name: "feature", onto: "main" });
    await call("git_rebase", { apply: data.plan });
    expect(git("rev-parse", "feature~1")).toBe(git("rev-parse", "main"));
    expect(git("rev-parse", "HEAD") + git("status", "--porcelain")).toBe(before);
  });

  it("keeps local changes, and refuses to overwrite them", async () => {
    const { call, git, write, state, root } = withCommits();
    write("README.md", "mine\n");
    const steps = [{ commit: "HEAD", action: "drop" }];
    const { data } = await call("git_rebase", { steps });
    write("src/line.ts", "mine too\n");
    const unchanged = state();
    expect((await failureOf(call("git_rebase", { apply: data.plan }))).code).toBe("local_changes");
    expect(state()).toBe(unchanged);
    expect(readFileSync(join(root, "src/line.ts"), "utf8")).toBe("mine too\n");
    git("checkout", "--quiet", "src/line.ts");
    await call("git_rebase", { apply: data.plan });
    expect(readFileSync(join(root, "README.md"), "utf8")).toBe("mine\n");
    expect(git("status", "--porcelain").trim()).toBe("M README.md");
  });

  it("refuses a plan if the branch has moved, another server's plan, and a branch of another worktree", async () => {
    const { call, git, root, place } = withCommits();
    const steps = [{ commit: "HEAD", action: "reword", message: "New" }];
    const { data } = await call("git_rebase", { steps });
    commitFiles(root, "Later", { "later.txt": "x\n" });
    expect((await failureOf(call("git_rebase", { apply: data.plan }))).code).toBe("stale_plan");
    expect(
      (await failureOf(call("git_rebase", { apply: git("rev-parse", "HEAD~1").trim() }))).code,
    ).toBe("stale_plan");
    git("worktree", "add", "--quiet", place.path("linked"), "feature");
    const other = await call("git_rebase", { branch_name: "feature", onto: "main" });
    expect((await failureOf(call("git_rebase", { apply: other.data.plan }))).code).toBe(
      "branch_in_use",
    );
    expect(gitIn(place.path("linked"), "status", "--porcelain")).toBe("");
  });

  it("refuses merges, unclear steps and empty messages", async () => {
    const { call, git } = withCommits();
    const codeFor = async (steps: object[], more = {}) =>
      (await failureOf(call("git_rebase", { steps, ...more }))).code;
    expect(await codeFor([])).toBe("bad_steps");
    expect(await codeFor([{ commit: "HEAD", action: "reword" }])).toBe("bad_message");
    expect(
      await codeFor([
        { commit: "HEAD", action: "pick" },
        { commit: "HEAD~0", action: "drop" },
      ]),
    ).toBe("bad_steps");
    expect(await codeFor([{ commit: "feature", action: "drop" }])).toBe("bad_steps");
    expect(
      await codeFor([
        { commit: "HEAD", action: "pick" },
        { commit: "HEAD~2", action: "pick" },
      ]),
    ).toBe("bad_steps");
    expect(await codeFor([{ commit: "HEAD", action: "squash" }])).toBe("bad_steps");
    expect(await codeFor([{ commit: "HEAD", action: "drop" }], { branch_name: "--all" })).toBe(
      "bad_revision",
    );
    expect(await codeFor([{ commit: "--all", action: "drop" }])).toBe("bad_revision");
    git("merge", "--quiet", "--no-edit", "feature");
    expect(await codeFor([{ commit: "HEAD", action: "drop" }])).toBe("merge_in_range");
    git("checkout", "--quiet", "--detach");
    expect(await codeFor([{ commit: "HEAD", action: "drop" }])).toBe("detached_head");
  });

  it("rewrites the first commit", async () => {
    const { call, git } = sample();
    const steps = [{ commit: "HEAD~2", action: "reword", message: "New first" }, ...picks(2)];
    const { data } = await call("git_rebase", { steps });
    expect(data).toMatchObject({ identical: true });
    expect(git("log", "--max-parents=0", "--format=%s", String(data.after)).trim()).toBe(
      "New first",
    );
  });

  it("is refused if hooks would run and nobody can be asked", async () => {
    const { call, root } = withCommits();
    hooksInto(join(root, ".git", "hooks"), "/bin/true");
    const query = { steps: picks(1) };
    expect((await failureOf(call("git_rebase", query, fakeCall()))).code).toBe("hook_needed");
    const skipped = await call("git_rebase", { ...query, skip_hooks: true }, fakeCall());
    expect(String(skipped.data.notes)).toMatch(/^Did not run the hooks .*: skip_hooks\.$/);
  });
});

describe("git_rebase in the working tree", () => {
  it("stays open on request with conflicts, and continues or skips", async () => {
    const { call, git, write } = sample();
    const head = git("rev-parse", "HEAD").trim();
    const stop = async () =>
      (await call("git_rebase", { onto: "conflicting", on_conflict: "keep" })).data;
    const data = await stop();
    expect(data).toMatchObject({
      before: head,
      conflicted: ["src/app.ts"],
      diff: expect.stringContaining("+ OURS"),
    });
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(head);
    write("src/app.ts", "resolved\n");
    await call("git_add", { files: ["src/app.ts"] });
    const { data: done } = await call("git_rebase", { action: "continue" });
    expect(done.before).toBe(head);
    expect(git("log", "-2", "--format=%s")).toBe("Our line\nOther line\n");
    expect(git("branch", "--show-current").trim()).toBe("main");
    await call("git_reset_hard", { revision: head });
    await stop();
    write("src/app.ts", "half resolved\n");
    const { data: skipped } = await call("git_rebase", { action: "skip" });
    expect(git("rev-parse", "main")).toBe(git("rev-parse", "conflicting"));
    const [, kept = ""] = /source (\w+)\.?$/.exec(String(skipped.notes)) ?? [];
    expect(git("show", `${kept}:src/app.ts`)).toBe("half resolved\n");
  });

  it("needs a branch", async () => {
    const { call, git } = sample();
    git("checkout", "--quiet", "--detach");
    expect((await failureOf(call("git_rebase", { onto: "feature" }))).code).toBe("detached_head");
  });
});

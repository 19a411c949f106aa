import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { expect, it } from "vitest";
import { commitFiles, failureOf, useSample } from "./fixture.ts";
import { hooksInto } from "./traps.ts";

const sample = useSample("clean");

/** The sample with commits a, b, c and d on main; each adds a file and changes the same line of another. */
function withCommits() {
  const { git, root, ...rest } = sample();
  for (const name of ["a", "b", "c", "d"])
    commitFiles(root, `Add ${name}`, { [`${name}.txt`]: name, "src/line.ts": `top\n${name}\n` });
  const state = () =>
    git("for-each-ref", "refs/heads", "refs/tags", "refs/stash") +
    git("status", "--porcelain") +
    git("ls-files", "-s");
  const subjects = () => git("log", "--reverse", "--format=%s", "v1.0..").trim().split("\n");
  return { ...rest, git, root, state, subjects, head: git("rev-parse", "HEAD").trim() };
}
const step = (commit: string, action = "pick", message?: string) => ({ commit, action, message });

it("previews and moves nothing, then applies exactly that, and its undo works", async () => {
  const { call, git, state, subjects, head } = withCommits();
  git("commit", "--quiet", "--amend", "--author=Ada <ada@example.org>", "-m", "Add d");
  const facts = () => git("log", "-1", "--format=%T %an <%ae> %ad %B");
  const [unchanged, last] = [state(), facts()];
  const steps = [
    step("HEAD~3", "reword", "New a"),
    step("HEAD~2"),
    step("HEAD~1", "squash", "Both\n\nWith a body"),
    step("HEAD"),
  ];
  const { data } = await call("git_rebase", { steps });
  expect(state()).toBe(unchanged);
  expect(data).toMatchObject({ branch: "main", applied: false, identical: true });
  expect(String(data.range_diff)).toContain("+    New a");
  const { data: done } = await call("git_rebase", { apply: data.plan });
  expect(done).toMatchObject({ applied: true, before: data.before, after: data.after });
  expect(git("rev-parse", "HEAD").trim()).toBe(data.after);
  expect(subjects()).toEqual(["New a", "Both", "Add d"]);
  expect(git("log", "-1", "--format=%B", "HEAD~1").trim()).toBe("Both\n\nWith a body");
  expect([facts(), git("diff", head), git("status", "--porcelain")]).toEqual([last, "", ""]);
  const [, undo] = /apply (\w+ [\w.]+)/.exec(String(done.undo)) ?? [];
  await call("git_rebase", { apply: undo });
  expect(git("rev-parse", "HEAD").trim()).toBe(data.before);
});

it("combines, drops, rewrites the first commit, and reports conflicts, changing nothing", async () => {
  const { call, git, state, subjects, root } = withCommits();
  const unchanged = state();
  const fixed = await call("git_rebase", { steps: [step("HEAD~1"), step("HEAD", "fixup")] });
  expect(git("log", "-1", "--format=%s", String(fixed.data.after)).trim()).toBe("Add c");
  const all = Array.from({ length: 6 }, (_, index) => step(`HEAD~${5 - index}`));
  const steps = [step("HEAD~6", "reword", "New first"), ...all];
  const first = String((await call("git_rebase", { steps })).data.after);
  expect(git("log", "--max-parents=0", "--format=%s", first).trim()).toBe("New first");
  const mixed = [step("HEAD~1"), step("HEAD"), step("HEAD~2"), step("HEAD~3")];
  const { data: stopped } = await call("git_rebase", { steps: mixed });
  expect(stopped).toMatchObject({ conflicted: ["src/line.ts"] });
  expect(stopped.plan).toBeUndefined();
  expect(state()).toBe(unchanged);
  const { data } = await call("git_rebase", { steps: [step("HEAD", "drop")] });
  expect(data).toMatchObject({
    identical: false,
    files: [{ path: "d.txt", status: "deleted" }, {}],
  });
  await call("git_rebase", { apply: data.plan });
  expect(subjects()).toEqual(["Add a", "Add b", "Add c"]);
  expect(readFileSync(join(root, "src/line.ts"), "utf8")).toBe("top\nc\n");
});

it("moves a branch that is not checked out, and keeps local changes", async () => {
  const { call, git, write, state, root } = withCommits();
  const { data: other } = await call("git_rebase", { branch_name: "feature", onto: "main" });
  await call("git_rebase", { apply: other.plan });
  expect(git("rev-parse", "feature~1")).toBe(git("rev-parse", "main"));
  write("README.md", "mine\n");
  const { data } = await call("git_rebase", { steps: [step("HEAD", "drop")] });
  write("src/line.ts", "mine too\n");
  const unchanged = state();
  expect((await failureOf(call("git_rebase", { apply: data.plan }))).code).toBe("local_changes");
  expect(state()).toBe(unchanged);
  git("checkout", "--quiet", "src/line.ts");
  await call("git_rebase", { apply: data.plan });
  expect(readFileSync(join(root, "README.md"), "utf8")).toBe("mine\n");
  expect(git("status", "--porcelain").trim()).toBe("M README.md");
});

it("refuses what is stale, in use, unclear, or a merge, and hooks that nobody can be asked about", async () => {
  const { call, git, root, place } = withCommits();
  const codeOf = async (args: object, asked = fakeCall({ agrees: true })) =>
    (await failureOf(call("git_rebase", { ...args }, asked))).code;
  const steps = [step("HEAD", "reword", "New")];
  const { data } = await call("git_rebase", { steps });
  commitFiles(root, "Later", { "later.txt": "x\n" });
  expect(await codeOf({ apply: data.plan })).toBe("stale_plan");
  git("worktree", "add", "--quiet", place.path("linked"), "feature");
  const other = await call("git_rebase", { branch_name: "feature", onto: "main" });
  expect(await codeOf({ apply: other.data.plan })).toBe("branch_in_use");
  expect(await codeOf({ steps: [step("HEAD"), step("HEAD~0", "drop")] })).toBe("bad_steps");
  expect(await codeOf({ steps: [step("HEAD"), step("HEAD~2")] })).toBe("bad_steps");
  hooksInto(join(root, ".git", "hooks"), "/bin/true");
  expect(await codeOf({ steps }, fakeCall())).toBe("hook_needed");
  const skipped = await call("git_rebase", { steps, skip_hooks: true }, fakeCall());
  expect(String(skipped.data.notes)).toMatch(/^Did not run the hooks .*: skip_hooks\.$/);
  git("-c", "core.hooksPath=/dev/null", "merge", "--quiet", "--no-edit", "v1.0~1");
  git("-c", "core.hooksPath=/dev/null", "merge", "--quiet", "--no-edit", "feature");
  expect(await codeOf({ steps, skip_hooks: true })).toBe("merge_in_range");
  git("-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "--detach");
  for (const args of [{ steps }, { onto: "feature" }])
    expect(await codeOf(args)).toBe("detached_head");
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

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
    expect(data.diff).toContain("\n++<<<<<<< HEAD\n +OURS\n++=======\n+ THEIRS\n++>>>>>>> ");
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
      message: "A cherry-pick is in progress, not a merge.",
    });
    const done = await call("git_cherry_pick", { action: "continue" });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Other line");
    expect(done.data).toMatchObject({ after: git("rev-parse", "HEAD").trim(), count: 1 });
    expect((await failureOf(call("git_merge"))).code).toBe("bad_argument");
  });
});

import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_checkout", () => {
  it("switches to a branch, and reports the previous one", async () => {
    const { call, git } = sample();
    const { data } = await call("git_checkout", { branch_name: "feature" });
    expect(data).toMatchObject({ branch: "feature", before: { branch: "main" } });
    expect(git("branch", "--show-current").trim()).toBe("feature");
  });

  it("creates a local branch from a remote one, and detaches at tags and commits", async () => {
    const { call, git } = sample();
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    git("update-ref", "refs/remotes/origin/theirs", "feature");
    const { data } = await call("git_checkout", { branch_name: "theirs" });
    expect(data).toMatchObject({ branch: "theirs", tracks: "origin/theirs" });
    expect(git("rev-parse", "--abbrev-ref", "theirs@{upstream}").trim()).toBe("origin/theirs");
    const tag = await call("git_checkout", { branch_name: "v0.9" });
    expect(tag.data.branch).toBeUndefined();
    expect(git("rev-parse", "HEAD")).toBe(git("rev-parse", "v0.9"));
  });

  it("never overwrites local changes, not even ignored files", async () => {
    const { call, git, write } = sample();
    write("src/app.ts", "mine\n");
    expect((await failureOf(call("git_checkout", { branch_name: "feature" }))).code).toBe(
      "local_changes",
    );
    git("checkout", "--quiet", "src/app.ts");
    git("checkout", "--quiet", "-b", "logs", "feature");
    write("x.log", "committed\n");
    git("add", "--force", "x.log");
    git("commit", "--quiet", "-m", "Log");
    git("checkout", "--quiet", "main");
    write("x.log", "mine and ignored\n");
    expect((await failureOf(call("git_checkout", { branch_name: "logs" }))).code).toBe(
      "local_changes",
    );
  });

  it("does not accept paths or options as branches", async () => {
    const { call, write, root } = sample();
    write("src/app.ts", "mine\n");
    for (const branch_name of ["src/app.ts", "--", "-", "--force", "--orphan=x"])
      expect((await failureOf(call("git_checkout", { branch_name }))).code, branch_name).toBe(
        "bad_revision",
      );
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(`${root}/src/app.ts`, "utf8")).toBe("mine\n");
  });

  it("creates a branch at HEAD or another commit, and refuses an existing one", async () => {
    const { call, git } = sample();
    await call("git_checkout", { branch_name: "fix/x", create: true });
    expect(git("branch", "--show-current").trim()).toBe("fix/x");
    await call("git_checkout", { branch_name: "old", create: true, base_branch: "v0.9" });
    expect(git("rev-parse", "old")).toBe(git("rev-parse", "v0.9"));
    const codeFor = async (branch_name: string) =>
      (await failureOf(call("git_checkout", { branch_name, create: true }))).code;
    expect(await codeFor("main")).toBe("branch_exists");
    expect(await codeFor("--orphan")).toBe("bad_name");
    expect(await codeFor("a..b")).toBe("bad_name");
  });
});

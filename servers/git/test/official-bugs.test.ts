import { describe, expect, it } from "vitest";
import { git as run, useSample, write } from "./fixture.ts";

const sample = useSample("clean");

/** Bugs of mcp-server-git by tool; each case works here. */
describe("known bugs of the official server", () => {
  it("git_log with dates returns complete commits, with every line of their messages", async () => {
    const { call } = sample();
    const { data } = await call("git_log", {
      start_timestamp: "2024-01-01",
      end_timestamp: "2024-01-31",
    });
    const commits = data.commits as {
      commit: string;
      author: string;
      date: string;
      message: string;
    }[];
    expect(commits).toHaveLength(3);
    for (const { commit, author, date } of commits) {
      expect(commit).toMatch(/^[0-9a-f]{40}$/);
      expect(author).toBe("Test");
      expect(Date.parse(date)).not.toBeNaN();
    }
    expect(commits[1]?.message).toBe("Add café\n\nWith a body.");
  });

  it("git_show of a commit that is not UTF-8 does not crash", async () => {
    const { call, git, write: put } = sample();
    put("latin.txt", Buffer.from("na\xefve\n", "latin1"));
    git("add", "latin.txt");
    git("commit", "--quiet", "-m", "Latin");
    expect((await call("git_show", { revision: "HEAD" })).text).toContain("+naïve");
  });

  it("git_show of a large commit stays within the budget and says how to continue", async () => {
    const { call, git, write: put } = sample();
    put("large.txt", "a line of some length that repeats\n".repeat(100_000));
    git("add", "large.txt");
    git("commit", "--quiet", "-m", "Large");
    const { text } = await call("git_show", { revision: "HEAD" });
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text).toMatch(/100000 insertions.*continue with cursor/);
  });

  it("git_diff takes ranges", async () => {
    expect((await sample().call("git_diff", { target: "v0.9..main" })).text).toContain("+OURS");
    expect((await sample().call("git_diff", { target: "main...feature" })).text).toContain("+TEN");
  });

  it("git_create_branch works on a detached HEAD and accepts any commit as its base", async () => {
    const { call, git } = sample();
    git("checkout", "--quiet", "--detach", "v0.9");
    await call("git_create_branch", { branch_name: "a" });
    await call("git_create_branch", { branch_name: "b", base_branch: "main~1" });
    expect(git("rev-parse", "a")).toBe(git("rev-parse", "b"));
  });

  it("git_status, git_diff_staged and git_reset work before the first commit", async () => {
    const { call, place } = sample();
    const root = place.path("fresh");
    run(place.folder, "init", "--quiet", root);
    write(root, "a.txt", "x\n");
    const at = { repo_path: root };
    await call("git_add", { ...at, files: ["a.txt"] });
    expect((await call("git_diff_staged", at)).text).toContain("+x");
    await call("git_reset", at);
    expect((await call("git_status", at)).data.untracked).toEqual(["a.txt"]);
  });

  it("every tool accepts a directory inside the repository", async () => {
    const { call, root } = sample();
    const at = { repo_path: `${root}/src` };
    expect((await call("git_status", at)).data.branch).toBe("main");
    expect((await call("git_log", at)).data.commits).toHaveLength(3);
    expect((await call("git_show", { ...at, revision: "HEAD" })).text).toContain("+OURS");
  });

  it("git_add stages a deletion, and accepts . together with other paths", async () => {
    const { call, git } = sample();
    const { rmSync } = await import("node:fs");
    rmSync(`${sample().root}/README.md`);
    await call("git_add", { files: ["README.md"] });
    expect(git("diff", "--cached", "--name-status").trim()).toBe("D\tREADME.md");
    await call("git_add", { files: [".", "src"] });
  });

  it("git_commit does not create empty commits, and reports whether hooks ran", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD");
    await expect(call("git_commit", { message: "Nothing" })).rejects.toMatchObject({
      code: "nothing_to_commit",
    });
    expect(git("rev-parse", "HEAD")).toBe(before);
  });

  it("git_checkout of a name that is also a file switches or fails, and never overwrites the file", async () => {
    const { call, write: put, root } = sample();
    put("README.md", "mine\n");
    await expect(call("git_checkout", { branch_name: "README.md" })).rejects.toMatchObject({
      code: "bad_revision",
    });
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(`${root}/README.md`, "utf8")).toBe("mine\n");
  });
});

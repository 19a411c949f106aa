import { readFileSync, utimesSync } from "node:fs";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");
const read = (path: string) => readFileSync(`${sample().root}/${path}`, "utf8");

describe("git_reset_hard", () => {
  it("states the exact loss when it asks", async () => {
    const call = fakeCall({ agrees: true });
    await sample().call("git_reset_hard", { revision: "v0.9" }, call);
    expect(call.questions).toHaveLength(1);
    expect(call.questions[0]).toMatch(
      /^Reset main from [0-9a-f]{10} to [0-9a-f]{10}\? This discards 1 commit: "\w+ Our line"\./,
    );
    expect(call.questions[0]).toContain(
      "Uncommitted changes are discarded in 2 files: src/app.ts, src/util.ts.",
    );
  });

  it("changes nothing if the user declines or cannot be asked", async () => {
    const { call, git } = sample();
    const state = () =>
      git("rev-parse", "HEAD") + git("diff") + git("diff", "--cached") + git("for-each-ref");
    const before = state();
    // A time unknown to git, which would write it to the index during a comparison.
    const [unchanged = ""] = git("ls-files")
      .split("\n")
      .filter((path) => !git("diff", "HEAD", "--name-only").includes(path));
    utimesSync(`${sample().root}/${unchanged}`, 1_000, 1_000);
    const index = read(".git/index");
    expect(
      (await failureOf(call("git_reset_hard", { revision: "v0.9" }, fakeCall({ agrees: false }))))
        .kind,
    ).toBe("denied");
    expect((await failureOf(call("git_reset_hard", { revision: "v0.9" }, fakeCall()))).kind).toBe(
      "denied",
    );
    expect(read(".git/index") === index).toBe(true);
    expect(state()).toBe(before);
  });

  it("its undo works: commits, staged and unstaged changes", async () => {
    const { call, git } = sample();
    const [head, staged, unstaged] = [
      git("rev-parse", "HEAD"),
      git("diff", "--cached"),
      git("diff"),
    ];
    const { data } = await call("git_reset_hard", { revision: "v0.9" });
    expect(git("rev-parse", "HEAD")).toBe(git("rev-parse", "v0.9"));
    expect(git("status", "--porcelain").trim()).toBe("?? notes.txt");
    expect(data.undo).toBe(
      `git_reset_hard with revision ${head.trim()}, then git_stash_apply with stash ${data.recovery}`,
    );
    await call("git_reset_hard", { revision: head.trim() });
    await call("git_stash_apply", { stash: data.recovery, index: true });
    expect([git("rev-parse", "HEAD"), git("diff", "--cached"), git("diff")]).toEqual([
      head,
      staged,
      unstaged,
    ]);
  });

  it("aborts a merge, and keeps the partial resolution", async () => {
    const { call, git, write } = sample();
    git("reset", "--quiet", "--hard");
    expect(() => git("merge", "conflicting")).toThrow();
    write("src/app.ts", "half resolved\n");
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_reset_hard", {}, asked);
    expect(asked.questions[0]).toContain("The merge in progress is aborted.");
    expect((await call("git_status")).data.operation).toBeUndefined();
    expect(git("show", `${String(data.recovery)}:src/app.ts`)).toBe("half resolved\n");
    expect(read("src/app.ts")).not.toBe("half resolved\n");
  });
});

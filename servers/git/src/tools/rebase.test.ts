import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_rebase", () => {
  it("rebases after asking, and its undo works", async () => {
    const { call, git } = sample();
    const head = git("rev-parse", "HEAD").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_rebase", { onto: "feature" }, asked);
    expect(asked.questions[0]).toMatch(
      /^Rebase main onto feature \([0-9a-f]{10}\)\? This rewrites 1 commit: "\w+ Our line"\./,
    );
    expect(git("rev-parse", "HEAD~1")).toBe(git("rev-parse", "feature"));
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(head);
    await call("git_reset_hard", { revision: head });
    expect(git("rev-parse", "HEAD").trim()).toBe(head);
  });

  it("aborts on conflicts and leaves no trace", async () => {
    const { call, git } = sample();
    const before = git("for-each-ref") + git("status", "--porcelain");
    const error = await failureOf(call("git_rebase", { onto: "conflicting" }));
    expect(error.code).toBe("conflict");
    expect(error.message).toContain("src/app.ts");
    expect(git("for-each-ref") + git("status", "--porcelain")).toBe(before);
    expect(git("branch", "--show-current").trim()).toBe("main");
  });

  it("stays open on request with conflicts as data, and continues or skips", async () => {
    const { call, git, write } = sample();
    const head = git("rev-parse", "HEAD").trim();
    const stop = async () =>
      (await call("git_rebase", { onto: "conflicting", on_conflict: "keep" })).data;
    const data = await stop();
    expect(data).toMatchObject({
      before: head,
      conflicted: ["src/app.ts"],
      conflicts: [
        {
          path: "src/app.ts",
          kind: "both modified",
          hunks: [{ line: 2, base: "two\n", ours: "THEIRS\n", theirs: "OURS\n" }],
        },
      ],
      applying: `${head.slice(0, 10)} Our line (1 of 1)`,
    });
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(head);
    write("src/app.ts", "resolved\n");
    await call("git_add", { files: ["src/app.ts"] });
    const { data: done } = await call("git_merge", { action: "continue" });
    expect(done.before).toBe(head);
    expect(git("log", "-2", "--format=%s")).toBe("Our line\nOther line\n");
    expect(git("branch", "--show-current").trim()).toBe("main");
    await call("git_reset_hard", { revision: head });
    await stop();
    write("src/app.ts", "half resolved\n");
    const { data: skipped } = await call("git_merge", { action: "skip" });
    expect(git("rev-parse", "main")).toBe(git("rev-parse", "conflicting"));
    const [, kept = ""] = /source (refs\/\S+?)\.?$/.exec(String(skipped.notes)) ?? [];
    expect(git("show", `${kept}:src/app.ts`)).toBe("half resolved\n");
  });

  it("needs a branch and the user's confirmation", async () => {
    const { call, git } = sample();
    expect((await failureOf(call("git_rebase", { onto: "feature" }, fakeCall()))).kind).toBe(
      "denied",
    );
    git("checkout", "--quiet", "--detach");
    expect((await failureOf(call("git_rebase", { onto: "feature" }))).code).toBe("detached_head");
  });
});

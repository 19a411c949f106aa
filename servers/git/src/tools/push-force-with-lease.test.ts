import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, commitFiles, failureOf, git } from "../../test/fixture.ts";
import { cloned, over, useTestDirectory } from "../../test/upstream.ts";

useTestDirectory();

describe("git_push_force_with_lease", () => {
  it("push with a lease shows the loss, keeps it, and stops if the remote has moved", async () => {
    const { root, bare } = await cloned();
    const old = git(root, "rev-parse", "HEAD").trim();
    git(root, "reset", "--quiet", "--hard", "HEAD~1");
    commitFiles(root, "Rewritten", { "x.txt": "x\n" });
    const force = (call = fakeCall({ agrees: true })) =>
      callTool(over(), "git_push_force_with_lease", { repo_path: root }, call);
    expect((await failureOf(force(fakeCall({ agrees: false })))).kind).toBe("denied");
    expect(git(bare, "rev-parse", "main").trim()).toBe(old);
    const asked = fakeCall({ agrees: true });
    const { data } = await force(asked);
    expect(asked.questions[0]).toMatch(/This discards 1 commit there: "\w+ Our line"/);
    expect(git(bare, "rev-parse", "main")).toBe(git(root, "rev-parse", "main"));
    expect(git(root, "rev-parse", String(data.recovery)).trim()).toBe(old);
    expect(data.undo).toBe(`git_reset_hard with revision ${old}, then git_push_force_with_lease`);
    git(bare, "update-ref", "refs/heads/main", "feature");
    commitFiles(root, "Again", { "y.txt": "y\n" });
    expect(await codeOf(force())).toBe("stale_lease");
    expect(git(bare, "rev-parse", "main")).toBe(git(bare, "rev-parse", "feature"));
  });
});

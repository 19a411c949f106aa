import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_cherry_pick", () => {
  it("copies commits in order", async () => {
    const { call, git } = sample();
    git("checkout", "--quiet", "feature");
    git("commit", "--quiet", "--allow-empty", "--amend", "-m", "First of two");
    git("mv", "src/feature.ts", "src/renamed.ts");
    git("commit", "--quiet", "-m", "Second of two");
    git("checkout", "--quiet", "main");
    await call("git_cherry_pick", { commits: ["feature~1", "feature"] });
    expect(git("log", "-2", "--format=%s").trim()).toBe("Second of two\nFirst of two");
  });

  it("aborts on conflicts", async () => {
    const { call, git } = sample();
    const error = await failureOf(call("git_cherry_pick", { commits: ["conflicting"] }));
    expect(error.code).toBe("conflict");
    expect(git("status", "--porcelain")).toBe("");
  });

  it("reports commits that are already here, and those that need a mainline", async () => {
    const { call, git } = sample();
    await call("git_cherry_pick", { commits: ["feature"] });
    expect((await failureOf(call("git_cherry_pick", { commits: ["feature"] }))).code).toBe(
      "nothing_to_commit",
    );
    git("merge", "--quiet", "--no-edit", "-s", "ours", "conflicting");
    const merge = git("rev-parse", "HEAD").trim();
    git("reset", "--quiet", "--hard", "v0.9");
    expect((await failureOf(call("git_cherry_pick", { commits: [merge] }))).code).toBe(
      "mainline_needed",
    );
  });
});

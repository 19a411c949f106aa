import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_create_branch", () => {
  it("creates a branch at HEAD or elsewhere, without switching", async () => {
    const { call, git } = sample();
    const { data } = await call("git_create_branch", { branch_name: "topic/a" });
    expect(data).toEqual({
      branch: "topic/a",
      commit: git("rev-parse", "main").trim(),
      base: "main",
    });
    await call("git_create_branch", { branch_name: "older", base_branch: "v0.9" });
    expect(git("rev-parse", "older")).toBe(git("rev-parse", "v0.9"));
    expect(git("branch", "--show-current").trim()).toBe("main");
  });

  it("works on a detached HEAD, unlike the official server", async () => {
    const { call, git } = sample();
    git("checkout", "--quiet", "--force", "--detach", "v0.9");
    await call("git_create_branch", { branch_name: "here" });
    expect(git("rev-parse", "here")).toBe(git("rev-parse", "v0.9"));
  });

  it("refuses existing and invalid names", async () => {
    const { call } = sample();
    const code = async (branch_name: string) =>
      (await failureOf(call("git_create_branch", { branch_name }))).code;
    expect(await code("feature")).toBe("branch_exists");
    for (const name of ["-D", "--force", "a..b", "a b", "HEAD", "x.lock", "refs~1", "@{-1}"])
      expect(await code(name), name).toBe("bad_name");
  });
});

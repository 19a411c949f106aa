import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_revert", () => {
  it("creates a commit that undoes another", async () => {
    const { call, git } = sample();
    const { data } = await call("git_revert", { commit: "HEAD" });
    expect(git("diff", "v0.9", "HEAD")).toBe("");
    expect(git("log", "-1", "--format=%s").trim()).toBe('Revert "Our line"');
    expect(data.files).toEqual([{ path: "src/app.ts", status: "modified" }]);
  });

  it("aborts on conflicts", async () => {
    const { call, git, write } = sample();
    write("src/app.ts", "all new\n");
    git("commit", "--quiet", "--all", "-m", "All new");
    expect((await failureOf(call("git_revert", { commit: "HEAD~1" }))).code).toBe("conflict");
    expect(git("status", "--porcelain")).toBe("");
  });
});

import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_rename_branch", () => {
  it("renames a branch, including the current one", async () => {
    const { call, git } = sample();
    const commit = git("rev-parse", "main").trim();
    const { data } = await call("git_rename_branch", { branch_name: "main", new_name: "trunk" });
    expect(data).toEqual({ branch: "trunk", before: "main", commit });
    expect(git("branch", "--show-current").trim()).toBe("trunk");
  });

  it("refuses names that are taken, unknown or invalid", async () => {
    const rename = (branch_name: string, new_name: string) =>
      failureOf(sample().call("git_rename_branch", { branch_name, new_name }));
    expect((await rename("main", "feature")).code).toBe("branch_exists");
    expect((await rename("nothing", "x")).code).toBe("bad_revision");
    for (const name of ["-x", "a..b", "HEAD", "@{-1}", "a b"])
      expect((await rename("feature", name)).code, name).toBe("bad_name");
    expect((await rename("-D", "x")).code).toBe("bad_revision");
  });
});

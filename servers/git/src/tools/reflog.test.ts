import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_reflog", () => {
  it("lists earlier positions of HEAD, newest first", async () => {
    const { call, git } = sample();
    const head = git("rev-parse", "HEAD").trim();
    git("reset", "--quiet", "--hard", "v0.9");
    const { data } = await call("git_reflog", { limit: 2 });
    expect(data.entries).toMatchObject([
      { name: "HEAD@{0}", subject: "reset: moving to v0.9" },
      { name: "HEAD@{1}", commit: head.slice(0, 10) },
    ]);
  });

  it("lists a branch, and pages", async () => {
    const { call } = sample();
    const first = await call("git_reflog", { ref: "main", limit: 1 });
    const second = await call("git_reflog", {
      ref: "main",
      limit: 1,
      cursor: first.data.next_cursor,
    });
    expect(second.data.entries).toMatchObject([{ name: "main@{1}", subject: "commit: Add café" }]);
  });

  it("does not accept an option as a name", async () => {
    expect((await failureOf(sample().call("git_reflog", { ref: "--all" }))).code).toBe(
      "bad_revision",
    );
  });

  it("lists what changes kept, which one ref holds", async () => {
    const { call, git, write } = sample();
    for (const text of ["first\n", "second\n"]) {
      write("README.md", text);
      await call("git_restore", { files: ["README.md"] });
    }
    const { data } = await call("git_reflog", { ref: "recovery" });
    const entries = data.entries as { commit: string; subject: string }[];
    expect(entries.map(({ subject }) => subject)).toEqual(["before restore", "before restore"]);
    expect(git("show", `${entries[1]?.commit}:README.md`)).toBe("first\n");
    expect(git("for-each-ref", "--format=%(refname)", "refs/refmcp").trim()).toBe(
      "refs/refmcp/recovery",
    );
  });
});

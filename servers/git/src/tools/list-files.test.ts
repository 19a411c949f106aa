import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_list_files", () => {
  it("lists tracked, untracked and ignored files", async () => {
    const { call } = sample();
    expect((await call("git_list_files")).data.files).toEqual([
      ".gitattributes",
      ".gitignore",
      "README.md",
      "docs/café.md",
      "src/app.ts",
      "src/util.ts",
    ]);
    expect((await call("git_list_files", { kind: "untracked" })).data.files).toEqual(["notes.txt"]);
    expect((await call("git_list_files", { kind: "ignored" })).data.files).toEqual(["build.log"]);
  });

  it("lists the files of a commit, below a path", async () => {
    const { data } = await sample().call("git_list_files", { revision: "feature", paths: ["src"] });
    expect(data.files).toEqual(["src/app.ts", "src/feature.ts", "src/util.ts"]);
  });

  it("pages in the same commit", async () => {
    const { call, git } = sample();
    const first = await call("git_list_files", { revision: "feature", limit: 4 });
    git("branch", "--force", "feature", "main~2");
    const second = await call("git_list_files", {
      revision: "feature",
      limit: 4,
      cursor: first.data.next_cursor,
    });
    expect(second.data).toEqual({ files: ["src/app.ts", "src/feature.ts", "src/util.ts"] });
  });

  it("does not leave the repository", async () => {
    expect((await failureOf(sample().call("git_list_files", { paths: ["../"] }))).code).toBe(
      "bad_path",
    );
  });
});

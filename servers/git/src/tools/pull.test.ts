import { describe, expect, it } from "vitest";
import { callTool, codeOf, commitFiles, git } from "../../test/fixture.ts";
import { cloned, over, place, useTestDirectory } from "../../test/upstream.ts";

useTestDirectory();

describe("git_pull", () => {
  it("pull moves the branch forward, and never merges", async () => {
    const { root, bare } = await cloned();
    const news = place.path("source");
    commitFiles(news, "News", { "news.txt": "x\n" });
    git(news, "push", "--quiet", bare, "main");
    const { data } = await callTool(over(), "git_pull", { repo_path: root });
    expect(data).toMatchObject({
      fast_forward: true,
      files: [{ path: "news.txt", status: "added" }],
    });
    git(root, "commit", "--quiet", "--allow-empty", "-m", "Mine");
    commitFiles(news, "More", { "more.txt": "x\n" });
    git(news, "push", "--quiet", bare, "main");
    const head = git(root, "rev-parse", "HEAD");
    expect(await codeOf(callTool(over(), "git_pull", { repo_path: root }))).toBe(
      "not_fast_forward",
    );
    expect(git(root, "rev-parse", "HEAD")).toBe(head);
  });
});

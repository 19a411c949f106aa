import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, commitFiles, failureOf, git } from "../../test/fixture.ts";
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

  it("rebases after asking, keeps the old commits, and aborts on conflicts", async () => {
    const { root, bare } = await cloned();
    const news = place.path("source");
    commitFiles(news, "News", { "news.txt": "x\n" });
    git(news, "push", "--quiet", bare, "main");
    const pull = (asked = fakeCall({ agrees: true })) =>
      callTool(over(), "git_pull", { repo_path: root, rebase: true }, asked);
    const quiet = fakeCall();
    expect((await pull(quiet)).data).toMatchObject({ fast_forward: true });
    expect(quiet.questions).toEqual([]);
    commitFiles(root, "Mine", { "mine.txt": "x\n" });
    const mine = git(root, "rev-parse", "HEAD").trim();
    commitFiles(news, "More", { "more.txt": "x\n" });
    git(news, "push", "--quiet", bare, "main");
    expect(await codeOf(pull(fakeCall({ agrees: false })))).toBe("declined");
    expect(git(root, "rev-parse", "HEAD").trim()).toBe(mine);
    const asked = fakeCall({ agrees: true });
    const { data } = await pull(asked);
    expect(asked.questions[0]).toMatch(
      /^Rebase main onto refs\/remotes\/origin\/main .* This rewrites 1 commit: "\w+ Mine"/,
    );
    expect(data).toMatchObject({ before: mine, files: [{ path: "more.txt", status: "added" }] });
    const [, recovery = ""] = /under (\S+)\.$/.exec(String(data.notes)) ?? [];
    expect(git(root, "rev-parse", recovery).trim()).toBe(mine);
    expect(git(root, "log", "--format=%s", "-2")).toBe("Mine\nMore\n");
    expect((await pull()).data.up_to_date).toBe(true);
    commitFiles(root, "Ours", { same: "ours\n" });
    const ours = git(root, "rev-parse", "HEAD");
    commitFiles(news, "Theirs", { same: "theirs\n" });
    git(news, "push", "--quiet", bare, "main");
    const error = await failureOf(pull());
    expect(error.code).toBe("conflict");
    expect(error.message).toContain("same");
    expect(git(root, "rev-parse", "HEAD")).toBe(ours);
  });
});

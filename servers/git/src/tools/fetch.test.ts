import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, commitFiles, failureOf, git } from "../../test/fixture.ts";
import { serveGit } from "../../test/http-server.ts";
import { cloned, over, place, servers, useTestDirectory } from "../../test/upstream.ts";

useTestDirectory();

describe("git_fetch", () => {
  it("fetch moves remote branches only, whatever the refspec says", async () => {
    const { root, bare } = await cloned();
    git(root, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*");
    git(bare, "branch", "fresh", "feature");
    git(bare, "update-ref", "refs/heads/main", "conflicting");
    const local = git(root, "for-each-ref", "refs/heads");
    const { data } = await callTool(over(), "git_fetch", { repo_path: root });
    expect(data.updated).toEqual([
      { ref: "refs/remotes/origin/fresh", after: git(bare, "rev-parse", "feature").trim() },
      {
        ref: "refs/remotes/origin/main",
        before: git(root, "rev-parse", "main").trim(),
        after: git(bare, "rev-parse", "conflicting").trim(),
      },
    ]);
    expect(git(root, "for-each-ref", "refs/heads")).toBe(local);
    git(bare, "branch", "-D", "fresh");
    const pruned = await callTool(over(), "git_fetch", { repo_path: root, prune: true });
    expect(JSON.stringify(pruned.data.updated)).toContain("origin/fresh");
    expect(await codeOf(callTool(over(), "git_fetch", { repo_path: root, remote: "orign" }))).toBe(
      "remote_not_found",
    );
    expect(
      await codeOf(callTool(over(), "git_fetch", { repo_path: root, branch_name: "none" })),
    ).toBe("remote_not_found");
  });

  it("reports increasing progress", async () => {
    const { root, bare } = await cloned();
    const source = place.path("source");
    commitFiles(source, "News", { "news.txt": "fresh\n" });
    git(source, "push", "--quiet", bare, "main");
    const call = fakeCall();
    await callTool(over(), "git_fetch", { repo_path: root }, call);
    expect(git(root, "rev-parse", "origin/main")).toBe(git(source, "rev-parse", "main"));
    const steps = call.reported.map(({ done }) => done);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it("a fetch stops when the call ends, and leaves the repository usable", async () => {
    const { root, bare } = await cloned();
    const source = place.path("source");
    commitFiles(source, "Large", { "large.bin": Buffer.alloc(3_000_000, "abcdefgh") });
    git(source, "push", "--quiet", bare, "main");
    const slow = await serveGit(place.path("served"), { stallAfter: 2_000 });
    servers.push(slow);
    git(root, "config", "remote.origin.url", `${slow.url}/upstream.git`);
    const before = git(root, "for-each-ref");
    const call = fakeCall();
    const work = callTool(over(), "git_fetch", { repo_path: root }, call);
    const failed = failureOf(work);
    await slow.stalled;
    call.cancel();
    expect((await failed).kind).toBe("cancelled");
    expect(git(root, "for-each-ref")).toBe(before);
    expect((await callTool(over(), "git_status", { repo_path: root })).data.clean).toBe(true);
  });
});

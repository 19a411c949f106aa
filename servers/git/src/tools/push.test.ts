import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, commitFiles, failureOf, git } from "../../test/fixture.ts";
import { serveGit } from "../../test/http-server.ts";
import { cloned, over, place, servers, useTestDirectory } from "../../test/upstream.ts";

useTestDirectory();

describe("git_push", () => {
  it("push sends one branch and a tag, and refuses to lose remote commits", async () => {
    const { root, bare } = await cloned();
    commitFiles(root, "Mine", { "mine.txt": "x\n" });
    git(root, "tag", "v3");
    const call = fakeCall();
    const { data } = await callTool(over(), "git_push", { repo_path: root, tag: "v3" }, call);
    expect(git(bare, "rev-parse", "main", "v3")).toBe(git(root, "rev-parse", "main", "v3"));
    expect(data.pushed).toHaveLength(2);
    git(root, "reset", "--quiet", "--hard", "HEAD~2");
    commitFiles(root, "Other", { "other.txt": "x\n" });
    git(root, "config", "remote.origin.push", "+refs/heads/*:refs/heads/*");
    git(root, "config", "remote.origin.mirror", "true");
    expect(await codeOf(callTool(over(), "git_push", { repo_path: root }))).toBe(
      "not_fast_forward",
    );
    expect(git(bare, "log", "-1", "--format=%s", "main").trim()).toBe("Mine");
    expect(git(bare, "for-each-ref", "--format=%(refname)")).toContain("refs/heads/conflicting");
    expect(
      await codeOf(callTool(over(), "git_push", { repo_path: root, branch_name: "--mirror" })),
    ).toBe("bad_name");
    expect(
      await codeOf(callTool(over(), "git_push", { repo_path: root, branch_name: "nothing" })),
    ).toBe("bad_revision");
  });

  it("reports increasing progress", async () => {
    const { root } = await cloned();
    commitFiles(root, "Mine", { "mine.txt": "x\n" });
    const call = fakeCall();
    await callTool(over(), "git_push", { repo_path: root }, call);
    const steps = call.reported.map(({ done }) => done);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it("stops when the call ends, with nothing pushed and no process left", async () => {
    const { root, bare } = await cloned();
    commitFiles(root, "Mine", { "mine.txt": "x\n" });
    const stalling = await serveGit(place.path("served"), { stallOn: "/git-receive-pack" });
    servers.push(stalling);
    git(root, "config", "remote.origin.url", `${stalling.url}/upstream.git`);
    const before = git(bare, "for-each-ref");
    const call = fakeCall();
    const work = callTool(over(), "git_push", { repo_path: root }, call);
    const failed = failureOf(work);
    await stalling.stalled;
    call.cancel();
    expect((await failed).kind).toBe("cancelled");
    expect(git(bare, "for-each-ref")).toBe(before);
    git(root, "config", "remote.origin.url", bare);
    git(root, "push", "--quiet", "origin", "main");
    expect(git(bare, "rev-parse", "main")).toBe(git(root, "rev-parse", "main"));
  });
});

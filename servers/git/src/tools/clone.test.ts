import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, failureOf, git } from "../../test/fixture.ts";
import { over, place, upstream, useTestDirectory } from "../../test/upstream.ts";

useTestDirectory();

describe("git_clone", () => {
  it("clones over http, with increasing progress", async () => {
    const { url } = await upstream();
    const call = fakeCall();
    const { data } = await callTool(over(), "git_clone", { url, path: place.path("new") }, call);
    expect(data).toMatchObject({ repository: place.path("new"), url, branch: "main" });
    expect(git(place.path("new"), "log", "--format=%s").split("\n")).toContain("Our line");
    const steps = call.reported.map(({ done }) => done);
    expect(steps.length).toBeGreaterThan(0);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
    expect(call.reported[0]?.note).toMatch(/\d+%/);
    expect(call.reported[0]?.total).toBe(700);
  });

  it("accepts a branch and a depth, and leaves nothing behind on failure", async () => {
    const { url } = await upstream();
    const shallow = { url, path: place.path("shallow"), branch: "feature", depth: 1 };
    await callTool(over(), "git_clone", shallow);
    expect(git(place.path("shallow"), "rev-list", "--count", "HEAD").trim()).toBe("1");
    const missing = { url, path: place.path("deep", "er"), branch: "nothing" };
    expect(await codeOf(callTool(over(), "git_clone", missing))).toBe("remote_not_found");
    expect(existsSync(place.path("deep"))).toBe(false);
    expect(
      await codeOf(callTool(over(), "git_clone", { ...shallow, path: place.path("source") })),
    ).toBe("path_exists");
    expect(existsSync(place.path("source", ".git"))).toBe(true);
    expect(
      await codeOf(callTool(over(), "git_clone", { ...shallow, path: join(place.home, "x") })),
    ).toBe("outside");
  });

  it("stops when the call ends, and removes everything", async () => {
    const { url, server } = await upstream({ stallAfter: 10 });
    const call = fakeCall();
    const failed = failureOf(
      callTool(over(), "git_clone", { url, path: place.path("stalled") }, call),
    );
    await server.stalled;
    call.cancel();
    expect((await failed).kind).toBe("cancelled");
    // The directory is removed after git has exited.
    expect(readdirSync(place.folder)).not.toContain("stalled");
  });
});

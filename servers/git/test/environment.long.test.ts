import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, emptyRepository, git, gitOver } from "./fixture.ts";
import { place, useTestDirectory } from "./upstream.ts";

useTestDirectory();

describe("unbounded work", () => {
  it("is bounded: showing part of a 300 MB blob costs no more than that part", async () => {
    const root = emptyRepository(place.path("big"));
    const file = openSync(join(root, "big.txt"), "w");
    const part = "0123456789abcdef".repeat(65_536);
    for (let index = 0; index < 300; index++) writeSync(file, part);
    closeSync(file);
    git(root, "-c", "core.compression=0", "-c", "core.bigFileThreshold=1m", "add", "big.txt");
    git(root, "commit", "--quiet", "-m", "Big");
    const over = gitOver([root]);
    const before = process.memoryUsage().rss;
    const { text } = await callTool(over, "git_show", { revision: "HEAD:big.txt" });
    expect(text).toContain("1 very long line cut");
    expect(text.length).toBeLessThanOrEqual(20_000);
    const patch = await callTool(over, "git_show", { revision: "HEAD" });
    expect(patch.text.length).toBeLessThanOrEqual(20_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });
});

import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, emptyRepository, git, write } from "./fixture.ts";
import { over, place, upstream, useTestDirectory } from "./upstream.ts";

useTestDirectory();

describe("a clone", () => {
  it("executes nothing it brings along: no hooks, filters, submodules or templates", async () => {
    const { url, bare } = await upstream();
    const mark = place.path("ran");
    const trap = place.path("trap.sh");
    writeFileSync(trap, `#!/bin/sh\necho ran >> "${mark}"\ncat\n`, { mode: 0o755 });
    const template = place.path("template", "hooks");
    write(template, "post-checkout", `#!/bin/sh\ntouch "${mark}"\n`);
    const { chmodSync } = await import("node:fs");
    chmodSync(join(template, "post-checkout"), 0o755);
    const source = place.path("source");
    write(source, ".gitmodules", `[submodule "s"]\n\tpath = s\n\turl = ${url}\n`);
    git(
      source,
      "update-index",
      "--add",
      "--cacheinfo",
      `160000,${git(source, "rev-parse", "HEAD").trim()},s`,
    );
    git(source, "add", ".gitmodules");
    git(source, "commit", "--quiet", "-m", "Submodule");
    git(source, "push", "--quiet", bare, "main");
    appendFileSync(
      join(place.home, ".gitconfig"),
      `[init]\n\ttemplateDir = ${place.path("template")}\n[filter "evil"]\n\tsmudge = ${trap}\n\tclean = ${trap}\n[submodule]\n\trecurse = true\n`,
    );
    await callTool(over(), "git_clone", { url, path: place.path("safe") });
    expect(existsSync(mark)).toBe(false);
    expect(readdirSync(place.path("safe", "s"))).toEqual([]);
    expect(existsSync(place.path("safe", ".git", "hooks"))).toBe(false);
    expect(git(place.path("safe"), "show", "HEAD:src/app.ts")).toContain("OURS");
  });
});

describe("an unreachable remote", () => {
  it("is reported", async () => {
    const root = emptyRepository(place.path("alone"));
    git(root, "remote", "add", "origin", "http://127.0.0.1:1/x.git");
    expect(await codeOf(callTool(over(), "git_fetch", { repo_path: root }))).toBe(
      "remote_unreachable",
    );
  });
});

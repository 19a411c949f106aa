import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  git,
  gitOver,
  insideAndOutside,
  makeDirty,
  place,
  sampleRepository,
  useTestDirectory,
  write,
} from "./fixture.ts";
import { canary, configText, executable } from "./traps.ts";

// What outlives a call is the configuration; a later call sees every change.
useTestDirectory();

/** Only what has been unchanged for a moment is kept. */
const settle = () => new Promise((wake) => setTimeout(wake, 120));

describe("a configuration that changes between two calls", () => {
  const filter = (program: string) =>
    configText([
      ["filter.evil.clean", program],
      ["filter.evil.smudge", program],
    ]);
  const ways: Readonly<Record<string, (root: string, text: string) => void>> = {
    "the repository's own": (root, text) => fs.appendFileSync(join(root, ".git", "config"), text),
    "the worktree's": (root, text) => fs.writeFileSync(join(root, ".git", "config.worktree"), text),
    "the user's": (_, text) => fs.appendFileSync(join(place.home, ".gitconfig"), text),
    "the user's in .config, which is new": (_, text) =>
      write(place.home, ".config/git/config", text),
    "a file that the user's includes, which is new": (_, text) =>
      write(place.home, "included", text),
    "a condition of the user's that becomes true": (root) =>
      git(root, "symbolic-ref", "HEAD", "refs/heads/other"),
  };

  it.each(Object.entries(ways))("is seen: %s", async (name, plant) => {
    const root = makeDirty(sampleRepository(place.path("repo")));
    git(root, "branch", "other");
    git(root, "config", "extensions.worktreeConfig", "true");
    git(root, "config", "--global", "include.path", "included");
    git(root, "config", "--global", "includeIf.onbranch:other.path", "~/elsewhere");
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const processes = place.path("processes");
    executable(place.path("bin", "git"), `echo "$*" >> "${processes}"\nexec "${real}" "$@"`);
    const env = { ...process.env, PATH: `${place.path("bin")}:${process.env.PATH}` };
    const over = gitOver([root], { env });
    const { program, log } = canary(place.path("evil"));
    if (name.startsWith("a condition")) write(place.home, "elsewhere", filter(program));
    await settle();
    await callTool(over, "git_status", {});
    await callTool(over, "git_show", { revision: "HEAD:src/app.ts" });
    fs.writeFileSync(processes, "");
    await callTool(over, "git_status", {});
    // Not again the configuration.
    expect(fs.readFileSync(processes, "utf8")).toMatch(/^status [^\n]*\n$/);
    plant(root, filter(program));
    write(root, "src/app.ts", "changed\n");
    await callTool(over, "git_status", {});
    await callTool(over, "git_diff_unstaged", {});
    expect(await codeOf(callTool(over, "git_add", { files: ["src/app.ts"] }))).toBe(
      "filter_needed",
    );
    expect(fs.existsSync(log)).toBe(false);
    git(root, "add", "src/app.ts");
    expect(fs.existsSync(log)).toBe(true);
  });

  it("is refused if it now leads outside", async () => {
    const { root, over } = insideAndOutside();
    const shown = () => callTool(over, "git_show", { repo_path: root, revision: "HEAD:README.md" });
    await settle();
    await shown();
    git(root, "config", "core.worktree", place.path("out"));
    expect(await codeOf(shown())).toBe("outside_roots");
  });
});

it("objects and git directories that lead outside later are refused, and forgotten when they no longer do", async () => {
  const { root, outside, over } = insideAndOutside();
  const revision = git(outside, "rev-parse", "HEAD:secret.txt").trim();
  const code = () => codeOf(callTool(over, "git_show", { repo_path: root, revision }));
  const alternates = join(root, ".git/objects/info/alternates");
  expect(await code()).toBe("bad_revision");
  write(root, ".git/objects/info/alternates", `${join(outside, ".git", "objects")}\n`);
  expect(await code()).toBe("outside_roots");
  fs.rmSync(alternates);
  expect(await code()).toBe("bad_revision");
  fs.renameSync(join(root, ".git"), place.path("in", "moved"));
  fs.symlinkSync(join(outside, ".git"), join(root, ".git"));
  expect(await code()).toBe("outside_roots");
  fs.rmSync(join(root, ".git"));
  fs.symlinkSync(place.path("in", "moved"), join(root, ".git"));
  expect(await code()).toBe("bad_revision");
});

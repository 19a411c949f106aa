import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, insideAndOutside, place, useSample, write } from "./fixture.ts";
import { canary, configText, executable } from "./traps.ts";

// What outlives a call is the configuration; a later call sees every change.
const sample = useSample("dirty");

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
      at(root).git("symbolic-ref", "HEAD", "refs/heads/other"),
  };

  it.each(Object.entries(ways))("is seen: %s", async (name, plant) => {
    const { root, git } = sample();
    git("branch", "other");
    git("config", "extensions.worktreeConfig", "true");
    git("config", "--global", "include.path", "included");
    git("config", "--global", "includeIf.onbranch:other.path", "~/elsewhere");
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const processes = place.path("processes");
    executable(place.path("bin", "git"), `echo "$*" >> "${processes}"\nexec "${real}" "$@"`);
    const env = { ...process.env, PATH: `${place.path("bin")}:${process.env.PATH}` };
    const { call, code } = at(root, { env });
    const { program, log } = canary(place.path("evil"));
    if (name.startsWith("a condition")) write(place.home, "elsewhere", filter(program));
    await settle();
    await call("git_status");
    await call("git_show", { revision: "HEAD:src/app.ts" });
    fs.writeFileSync(processes, "");
    await call("git_status");
    // Not again the configuration.
    expect(fs.readFileSync(processes, "utf8")).toMatch(/^status [^\n]*\n$/);
    plant(root, filter(program));
    write(root, "src/app.ts", "changed\n");
    await call("git_status");
    await call("git_diff_unstaged");
    expect(await code("git_add", { files: ["src/app.ts"] })).toBe("filter_needed");
    expect(fs.existsSync(log)).toBe(false);
    git("add", "src/app.ts");
    expect(fs.existsSync(log)).toBe(true);
  });

  it("is refused if it now leads outside", async () => {
    const { call, code, git } = insideAndOutside();
    const readme = { revision: "HEAD:README.md" };
    await settle();
    await call("git_show", readme);
    git("config", "core.worktree", place.path("out"));
    expect(await code("git_show", readme)).toBe("outside_roots");
  });
});

it("objects and git directories that lead outside later are refused, and forgotten when they no longer do", async () => {
  const { root, outside, ...here } = insideAndOutside();
  const code = () => here.code("git_show", { revision: at(outside).id("HEAD:secret.txt") });
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

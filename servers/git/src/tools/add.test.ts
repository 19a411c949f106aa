import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_add", () => {
  it("stages new, changed and deleted files", async () => {
    const { call, git } = sample();
    git("rm", "--quiet", "--cached", "README.md");
    const { data } = await call("git_add", { files: ["notes.txt", "src", "README.md"] });
    expect(data.staged).toEqual([
      { path: "notes.txt", status: "added" },
      { path: "src/app.ts", status: "modified" },
      { path: "src/util.ts", status: "modified" },
    ]);
    expect(git("diff", "--cached", "--name-only")).toBe("notes.txt\nsrc/app.ts\nsrc/util.ts\n");
  });

  it("stages everything with a dot, and accepts absolute paths inside the repository", async () => {
    const { call, git, root } = sample();
    await call("git_add", { files: [`${root}/notes.txt`] });
    expect(git("diff", "--cached", "--name-only")).toContain("notes.txt");
    await call("git_add", { files: ["."] });
    expect(git("status", "--porcelain", "--untracked-files=all").match(/^.\S/m)).toBeNull();
  });

  it("stages nothing if one path is ignored, missing or outside (CVE-2026-27735)", async () => {
    const { call, git } = sample();
    const before = git("ls-files", "-s");
    const codes: (string | undefined)[] = [];
    for (const bad of [
      "build.log",
      "missing.txt",
      "../..",
      "../../etc/passwd",
      "/etc/passwd",
      ".git/config",
    ])
      codes.push((await failureOf(call("git_add", { files: ["notes.txt", bad] }))).code);
    expect(codes).toEqual([
      "ignored_path",
      "bad_path",
      "bad_path",
      "bad_path",
      "bad_path",
      "bad_path",
    ]);
    expect(git("ls-files", "-s")).toBe(before);
  });

  it("names a file that only its own directory's .gitignore ignores", async () => {
    const { call, write } = sample();
    write("out/.gitignore", "/made.txt\n");
    write("out/made.txt", "made\n");
    const { code, message } = await failureOf(call("git_add", { files: ["out/made.txt"] }));
    expect({ code, isNamed: message.includes("out/made.txt") }).toEqual({
      code: "ignored_path",
      isNamed: true,
    });
  });

  it("takes names literally, whatever magic they contain", async () => {
    const { call, git, write } = sample();
    write(":(top)star*.txt", "odd\n");
    write("star1.txt", "plain\n");
    await call("git_add", { files: [":(top)star*.txt"] });
    expect(git("diff", "--cached", "--name-only")).toBe(":(top)star*.txt\nsrc/util.ts\n");
  });

  it("does not stage files that need the user's filter, and lists them", async () => {
    const { call, place, write } = sample();
    const { appendFileSync } = await import("node:fs");
    appendFileSync(
      `${place.home}/.gitconfig`,
      '[filter "piped"]\n\tprocess = git-lfs filter-process\n',
    );
    write("large.txt", "content\n");
    const error = await failureOf(call("git_add", { files: ["large.txt"] }));
    expect(error).toMatchObject({ kind: "denied", code: "filter_needed" });
    expect(error.message).toContain("large.txt");
  });

  it("reports an unknown path", async () => {
    const { call, git } = sample();
    const error = await failureOf(call("git_add", { files: ["notes.txt", "util.ts"] }));
    expect(error).toMatchObject({ kind: "not_found", code: "bad_path" });
    expect(error.message).toContain("util.ts");
    expect(git("diff", "--cached", "--name-only")).not.toContain("notes.txt");
  });
});

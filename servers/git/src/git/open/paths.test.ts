import { describe, expect, it } from "vitest";
import { pathsIn } from "./paths.ts";
import type { Repository } from "./repository.ts";

const ROOT = process.platform === "win32" ? "C:\\work\\repo" : "/work/repo";

/** One path in a repository whose working tree is the root. */
async function pathIn(path: string): Promise<string | undefined> {
  const repository: Pick<Repository, "prepared"> = {
    prepared: async () => ({ worktree: ROOT }) as Awaited<ReturnType<Repository["prepared"]>>,
  };
  return (await pathsIn(repository as Repository, [path]))[0];
}

describe("pathsIn", () => {
  it("accepts relative and absolute paths inside the root", async () => {
    expect(await pathIn("src/a.ts")).toBe("src/a.ts");
    expect(await pathIn("./src//b/../a.ts")).toBe("src/a.ts");
    expect(await pathIn(`${ROOT}/src`)).toBe("src");
    expect(await pathIn(".")).toBe(".");
    expect(await pathIn(ROOT)).toBe(".");
    expect(await pathIn("..a/b")).toBe("..a/b");
  });

  it("never leaves the root or enters a git directory", async () => {
    for (const path of [
      "..",
      "../..",
      "a/../../b",
      "/etc/passwd",
      `${ROOT}-evil/x`,
      ".git",
      ".git/config",
      "a/.GIT/hooks",
      "",
      "a\0b",
    ])
      await expect(pathIn(path), JSON.stringify(path)).rejects.toThrow();
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");
const read = (path: string) => readFileSync(`${sample().root}/${path}`, "utf8");

describe("git_restore", () => {
  it("restores a file, and keeps its previous content", async () => {
    const { call } = sample();
    const mine = read("src/app.ts");
    const { data } = await call("git_restore", { files: ["src/app.ts"] });
    expect(read("src/app.ts")).not.toBe(mine);
    await call("git_restore", { files: ["src/app.ts"], source: data.recovery });
    expect(read("src/app.ts")).toBe(mine);
  });

  it("restores from a commit, and the index on request", async () => {
    const { call, git } = sample();
    await call("git_restore", { files: ["src"], source: "v0.9", staged: true });
    expect(git("diff", "v0.9", "--", "src")).toBe("");
    await call("git_restore", { files: ["src"], staged: true, worktree: false });
    expect(git("diff", "--cached", "--", "src")).toBe("");
  });

  it("restores a deleted file, and reports unknown paths", async () => {
    const { call, root } = sample();
    const { rmSync } = await import("node:fs");
    rmSync(`${root}/README.md`);
    await call("git_restore", { files: ["README.md"] });
    expect(read("README.md")).toBe("# Sample\n");
    expect((await failureOf(call("git_restore", { files: ["nothing"] }))).code).toBe("bad_path");
    expect(
      (await failureOf(call("git_restore", { files: ["a"], source: "--worktree" }))).code,
    ).toBe("bad_revision");
  });

  it("lists what a source changed, and keeps an untracked file that it overwrites", async () => {
    const { call, git, write, root } = sample();
    git("stash", "push", "--quiet", "--include-untracked");
    const { data } = await call("git_restore", { files: ["src/app.ts"], source: "v0.9" });
    expect(data).toMatchObject({ files: [{ path: "src/app.ts", status: "modified" }], count: 1 });
    write("src/feature.ts", "untracked\n");
    const again = await call("git_restore", { files: ["src/feature.ts"], source: "feature" });
    expect(again.data).toMatchObject({ files: [{ path: "src/feature.ts" }], count: 1 });
    expect(readFileSync(`${root}/src/feature.ts`, "utf8")).toBe("new\n");
    await call("git_restore", { files: ["src/feature.ts"], source: again.data.recovery });
    expect(readFileSync(`${root}/src/feature.ts`, "utf8")).toBe("untracked\n");
  });
});

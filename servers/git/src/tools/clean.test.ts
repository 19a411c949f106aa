import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { emptyRepository, failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");
const isThere = (path: string) => existsSync(`${sample().root}/${path}`);

describe("git_clean", () => {
  it("deletes untracked files after asking, and keeps them", async () => {
    const { call, write, root } = sample();
    write("tmp/deep/file.txt", "deep\n");
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_clean", {}, asked);
    expect(asked.questions[0]).toContain("Delete 2 untracked files");
    expect(asked.questions[0]).toContain("notes.txt, tmp/deep/file.txt");
    expect([isThere("notes.txt"), isThere("build.log")]).toEqual([false, true]);
    await call("git_restore", { files: ["notes.txt", "tmp/deep/file.txt"], source: data.recovery });
    expect(readFileSync(`${root}/tmp/deep/file.txt`, "utf8")).toBe("deep\n");
    expect(isThere("notes.txt")).toBe(true);
  });

  it("deletes ignored files only on request, and never another repository", async () => {
    const { call, root } = sample();
    emptyRepository(`${root}/inner`);
    mkdirSync(`${root}/empty`);
    await call("git_clean", { ignored: true });
    expect([isThere("build.log"), isThere("inner/.git/HEAD")]).toEqual([false, true]);
  });

  it("changes nothing before the user confirms, or if there is nothing to delete", async () => {
    const { call } = sample();
    expect((await failureOf(call("git_clean", {}, fakeCall({ agrees: false })))).kind).toBe(
      "denied",
    );
    expect(isThere("notes.txt")).toBe(true);
    expect((await failureOf(call("git_clean", { files: ["src"] }))).code).toBe("nothing_to_clean");
  });
});

import { describe, expect, it } from "vitest";
import { commitFiles, failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");

// bisect.long.test.ts has the rest.
describe("git_bisect", () => {
  it("finds the first bad commit, and leaves files and a bisect of the user alone", async () => {
    const { call, git, root } = sample();
    git("checkout", "--quiet", "-b", "long");
    const commits = Array.from({ length: 8 }, (_, index) =>
      commitFiles(root, `Step ${index}`, { [index === 5 ? "bug" : `file-${index}`]: "x\n" }, 6),
    );
    git("checkout", "--quiet", "main");
    git("bisect", "start", "long", "main");
    const state = () =>
      ["status --porcelain", "rev-parse HEAD", "bisect log"].map((args) => git(...args.split(" ")));
    const before = state();
    let { data } = await call("git_bisect", { action: "start", bad: "long", good: ["main"] });
    const again = call("git_bisect", { action: "start", good: ["main"] });
    expect((await failureOf(again)).code).toBe("operation_in_progress");
    while (data.next !== undefined) {
      const { commit } = data.next as { commit: string };
      const isBad = git("ls-tree", "--name-only", commit).includes("bug\n");
      ({ data } = await call("git_bisect", { action: isBad ? "bad" : "good" }));
    }
    expect(data.first_bad).toMatchObject({ commit: commits[5], message: "Step 5" });
    await call("git_bisect", { action: "reset" });
    expect(git("for-each-ref", "refs/refmcp/")).toBe("");
    expect(state()).toEqual(before);
  });
});

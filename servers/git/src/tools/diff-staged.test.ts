import { describe, expect, it } from "vitest";
import { emptyRepository, failureOf, git as run, useSample, write } from "../../test/fixture.ts";

/** What git_add takes, at the end of a hunk's first line. */
const HUNK_ID = / \[[0-9a-f]{7}\]$/gm;
const sample = useSample("dirty");

describe("git_diff_staged", () => {
  it("matches git's output", async () => {
    const { text } = await sample().call("git_diff_staged");
    const patch = sample().git("diff", "--cached").trimEnd();
    expect(text.replace(HUNK_ID, "")).toBe(
      `Staged changes:\n${patch}\n(1 file changed, 1 insertion, 1 deletion)`,
    );
  });

  it("shows the first files of an unborn branch as new", async () => {
    const { place, call } = sample();
    const root = emptyRepository(place.path("unborn"));
    write(root, "a.txt", "first\n");
    run(root, "add", "a.txt");
    const { text } = await call("git_diff_staged", { repo_path: root });
    expect(text).toContain("new file mode 100644");
    expect(text).toContain("+first");
  });

  it("needs a working tree", async () => {
    const { place, call } = sample();
    const bare = emptyRepository(place.path("bare.git"), "--bare");
    const error = await failureOf(call("git_diff_staged", { repo_path: bare }));
    expect(error.code).toBe("bare_repository");
  });
});

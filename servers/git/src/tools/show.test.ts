import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_show", () => {
  it("shows a commit with author, date, message and patch", async () => {
    const { call, git } = sample();
    const { text } = await call("git_show", { revision: "v0.9" });
    expect(text).toContain(
      `Commit: ${git("rev-parse", "v0.9").trim()}\nAuthor: Test <test@example.org>\n`,
    );
    expect(text).toContain("Message: Add café\n    \n    With a body.");
    expect(text).toContain(git("-c", "core.quotePath=false", "show", "--format=", "v0.9").trim());
  });

  it("shows the first commit against an empty tree", async () => {
    const { text } = await sample().call("git_show", { revision: "main~2" });
    expect(text).toContain("new file mode 100644");
    expect(text).toContain("(2 files changed, 11 insertions, 0 deletions)");
  });

  it("shows a merge against its first parent, and reports it", async () => {
    const { call, git } = sample();
    git("merge", "--quiet", "--no-edit", "feature");
    const { text } = await call("git_show", { revision: "HEAD" });
    expect(text).toContain("(compared with the first parent; ");
    expect(text).toContain("+new");
    expect(text).toMatch(/^Merge: [0-9a-f]{40} [0-9a-f]{40}$/m);
  });

  it("shows directories and files, and lines of a file", async () => {
    const { call } = sample();
    const tree = await call("git_show", { revision: "HEAD:" });
    expect(tree.text).toContain("040000 tree src/");
    expect(tree.text).toContain("(5 of 5 entries)");
    const blob = await call("git_show", {
      revision: "HEAD:src/app.ts",
      start_line: 2,
      end_line: 3,
    });
    expect(blob.text).toMatch(/^Blob: [0-9a-f]{40}\nOURS\nthree\n\(lines 2 to 3, file of \d+ B\)$/);
  });

  it("shows a tag with its message and target", async () => {
    const { text } = await sample().call("git_show", { revision: "v1.0" });
    expect(text).toMatch(/^Tag: v1\.0\n {4}tagger Test <test@example\.org>/);
    expect(text).toContain("Version one");
    expect(text).toContain("Message: Our line");
  });

  it("reads a large file in pages without loss", async () => {
    const { call, git, write } = sample();
    const content = Array.from({ length: 5_000 }, (_, index) => `line ${index}`).join("\n");
    write("large.txt", content);
    git("add", "large.txt");
    git("commit", "--quiet", "-m", "Large");
    const lines: string[] = [];
    let cursor: string | undefined;
    do {
      const { text } = await call("git_show", {
        revision: "HEAD:large.txt",
        ...(cursor ? { cursor } : {}),
      });
      expect(text.length).toBeLessThanOrEqual(20_000);
      lines.push(...text.split("\n").slice(1, -1));
      cursor = /cursor "([\w-]+)"/.exec(text)?.[1];
    } while (cursor !== undefined);
    expect(lines.join("\n")).toBe(content);
  });

  it("describes a binary file instead of dumping it", async () => {
    const { call, git, write } = sample();
    write("image.bin", new Uint8Array([1, 0, 2, 0]));
    git("add", "image.bin");
    git("commit", "--quiet", "-m", "Binary");
    expect((await call("git_show", { revision: "HEAD:image.bin" })).text).toContain(
      "(binary file, 4 B)",
    );
    expect((await call("git_show", { revision: "HEAD" })).text).toContain("1 binary");
  });

  it("refuses a range that ends before it starts", async () => {
    const range = { revision: "HEAD:src/app.ts", start_line: 3, end_line: 2 };
    expect((await failureOf(sample().call("git_show", range))).code).toBe("bad_range");
  });
});

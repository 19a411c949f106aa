import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_diff", () => {
  it("compares the working tree with a commit", async () => {
    const { text } = await sample().call("git_diff", { target: "v0.9" });
    expect(text.startsWith("Diff with v0.9:\n")).toBe(true);
    expect(text).toContain(sample().git("diff", "v0.9").trimEnd());
  });

  it("compares two commits, directly and from their merge base", async () => {
    const { call, git } = sample();
    for (const range of ["main..feature", "main...feature", "v0.9..", "HEAD~1..HEAD"]) {
      const { text } = await call("git_diff", { target: range });
      expect(text, range).toContain(git("diff", range).trimEnd());
    }
  });

  it("pages through a large diff without loss: complete files first, then the rest by cursor", async () => {
    const { call, git, write } = sample();
    const lines = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${name} line ${index}\n`).join("");
    for (let index = 0; index < 12; index++)
      write(`part/${index}.txt`, lines(`file ${index}`, 150));
    write("part/huge.txt", lines("huge", 3_000));
    git("add", "-A");
    git("commit", "--quiet", "-m", "Much");
    const whole = git("diff", "HEAD~1", "HEAD")
      .split("\n")
      .filter((line) => line.startsWith("+"));
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const { text } = await call("git_diff", {
        target: "HEAD~1..HEAD",
        ...(cursor ? { cursor } : {}),
      });
      expect(text.length).toBeLessThanOrEqual(20_000);
      seen.push(...text.split("\n").filter((line) => /^\+(?!\d+ -\d+ )/.test(line)));
      cursor = /cursor "([\w-]+)"/.exec(text)?.[1];
      pages += 1;
    } while (cursor !== undefined && pages < 30);
    // A file that continues on the next page has its header again there.
    const content = (all: readonly string[]) => all.filter((line) => !line.startsWith("+++ "));
    expect(content(seen)).toEqual(content(whole));
    expect(pages).toBeGreaterThan(4);
  });

  it("binds a cursor to its original changes", async () => {
    const { call, git, write } = sample();
    git("checkout", "--quiet", "--force", "-b", "moving");
    write("big.txt", "a line of text\n".repeat(3_000));
    git("add", "big.txt");
    git("commit", "--quiet", "-m", "Big");
    const first = await call("git_diff", { target: "v0.9..moving" });
    const [, cursor] = /cursor "([\w-]+)"/.exec(first.text) ?? [];
    write("big.txt", "another line\n".repeat(3_000));
    git("commit", "--quiet", "-am", "Moved");
    const error = await failureOf(call("git_diff", { target: "v0.9..moving", cursor }));
    expect(error.code).toBe("stale_cursor");
  });

  it("begins a list with its total", async () => {
    const { call } = sample();
    const total = "2 files changed, 2 insertions, 1 deletion";
    const files = "+1 -1 src/app.ts\nA +1 -0 src/feature.ts";
    const { text } = await call("git_diff", { target: "main...feature", format: "stat" });
    expect(text).toBe(`Diff with main...feature:\n${total}\n${files}`);
  });
});

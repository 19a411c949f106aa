import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");

type Commits = { message: string; commit: string; parents?: string[] }[];
const subjects = (data: Record<string, unknown>) =>
  (data.commits as Commits).map(({ message }) => message.split("\n", 1)[0]);

describe("git_log", () => {
  it("lists commits newest first, with full messages", async () => {
    const { data, text } = await sample().call("git_log");
    expect(text.startsWith("Commit history:\n")).toBe(true);
    expect(subjects(data)).toEqual(["Our line", "Add café", "First commit"]);
    expect((data.commits as Commits)[1]).toEqual({
      commit: sample().git("rev-parse", "v0.9").trim(),
      author: "Test",
      email: "test@example.org",
      date: expect.stringMatching(/^2024-01-02T12:00:00(Z|\+00:00)$/),
      refs: ["tag: v0.9"],
      message: "Add café\n\nWith a body.",
    });
  });

  it("keeps commits intact when filtered by date (the official server scrambles them)", async () => {
    const { call } = sample();
    const both = { start_timestamp: "2024-01-02T00:00:00Z", end_timestamp: "2024-01-04" };
    expect(subjects((await call("git_log", { ...both, revision: "feature" })).data)).toEqual([
      "Feature work",
      "Add café",
    ]);
    expect(subjects((await call("git_log", { end_timestamp: "2024-01-01T13:00:00Z" })).data)).toEqual([
      "First commit",
    ]);
    expect(subjects((await call("git_log", { start_timestamp: "yesterday" })).data)).toEqual([]);
  });

  it("treats a date as the whole day, whatever the current time", async () => {
    const day = { start_timestamp: "2024-01-02", end_timestamp: "2024-01-02" };
    expect(subjects((await sample().call("git_log", day)).data)).toEqual(["Add café"]);
  });

  it("refuses an invalid date, instead of treating it as now", async () => {
    const error = await failureOf(sample().call("git_log", { start_timestamp: "some day" }));
    expect(error).toMatchObject({ kind: "invalid", code: "bad_date" });
  });

  it("finds by path, author, message and changed text", async () => {
    const { call } = sample();
    expect(subjects((await call("git_log", { path: "src/app.ts" })).data)).toEqual([
      "Our line",
      "First commit",
    ]);
    expect(subjects((await call("git_log", { grep: "CAF|nothing" })).data)).toEqual(["Add café"]);
    expect(subjects((await call("git_log", { pickaxe: "OURS" })).data)).toEqual(["Our line"]);
    expect(subjects((await call("git_log", { author: "nobody" })).data)).toEqual([]);
    expect(subjects((await call("git_log", { author: "^Test" })).data)).toHaveLength(3);
  });

  it("follows a file through its renames only if asked", async () => {
    const { call, git } = sample();
    git("mv", "src/app.ts", "src/main.ts");
    git("commit", "--quiet", "-m", "Rename");
    const path = "src/main.ts";
    expect(subjects((await call("git_log", { path })).data)).toEqual(["Rename"]);
    expect(subjects((await call("git_log", { path, follow: true })).data)).toEqual([
      "Rename",
      "Our line",
      "First commit",
    ]);
    const error = await failureOf(call("git_log", { follow: true }));
    expect(error).toMatchObject({ code: "bad_argument" });
  });

  it("reads ranges and marks merges", async () => {
    const { call, git } = sample();
    git("merge", "--quiet", "--no-edit", "feature");
    const { data } = await call("git_log", { revision: "main~1..main" });
    expect(subjects(data)).toEqual(["Merge branch 'feature'", "Feature work"]);
    expect((data.commits as Commits)[0]?.parents).toHaveLength(2);
    expect(subjects((await call("git_log", { revision: "feature...conflicting" })).data)).toEqual([
      "Other line",
      "Feature work",
    ]);
  });

  it("continues the same list even if the branch has moved", async () => {
    const { call, git } = sample();
    const first = await call("git_log", { max_count: 1 });
    git("commit", "--quiet", "--allow-empty", "-m", "Newer");
    const second = await call("git_log", { max_count: 1, cursor: first.data.next_cursor });
    const third = await call("git_log", { max_count: 5, cursor: second.data.next_cursor });
    expect([first, second, third].flatMap(({ data }) => subjects(data))).toEqual([
      "Our line",
      "Add café",
      "First commit",
    ]);
    expect(third.data.next_cursor).toBeUndefined();
    const other = failureOf(call("git_log", { author: "x", cursor: first.data.next_cursor }));
    expect((await other).kind).toBe("invalid");
  });

  it("takes a pickaxe literally, and other filters case-insensitively", async () => {
    const { call, git, write } = sample();
    write("case.txt", "FooBar\n");
    git("add", "case.txt");
    git("commit", "--quiet", "-m", "Adds FooBar");
    expect(subjects((await call("git_log", { pickaxe: "foobar" })).data)).toEqual([]);
    expect(subjects((await call("git_log", { pickaxe: "FooBar" })).data)).toEqual(["Adds FooBar"]);
    expect(subjects((await call("git_log", { grep: "adds foobar" })).data)).toEqual(["Adds FooBar"]);
  });

  it("does not accept a number with an unknown word as a date", async () => {
    for (const text of ["5 bananas", "2024-01-15 sharp", "in 3 days"])
      expect((await failureOf(sample().call("git_log", { start_timestamp: text }))).code, text).toBe(
        "bad_date",
      );
    for (const text of [
      "2 weeks ago",
      "yesterday noon",
      "Jan 15 2024 10:00 UTC",
      "last friday",
      "2024-01-15T10:00:00Z",
    ])
      await sample().call("git_log", { start_timestamp: text });
  });

  it("truncates a long message, which git_show returns in full", async () => {
    const { call, git } = sample();
    const body = "word ".repeat(2_500).trim();
    git("commit", "--quiet", "--allow-empty", "-m", "Long", "-m", body);
    const [first] = (await call("git_log")).data.commits as Commits;
    expect(first?.message).toMatch(/…$/);
    expect((await call("git_show", { revision: "HEAD" })).text).toContain(body);
  });
});

import { describe, expect, it } from "vitest";
import { commitFiles, failureOf, useSample } from "../../test/fixture.ts";

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
    expect(
      subjects((await call("git_log", { end_timestamp: "2024-01-01T13:00:00Z" })).data),
    ).toEqual(["First commit"]);
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
    expect(subjects((await call("git_log", { grep: "adds foobar" })).data)).toEqual([
      "Adds FooBar",
    ]);
  });

  it("does not accept a number with an unknown word as a date", async () => {
    for (const text of ["5 bananas", "2024-01-15 sharp", "in 3 days", "2024-13-45"])
      expect(
        (await failureOf(sample().call("git_log", { start_timestamp: text }))).code,
        text,
      ).toBe("bad_date");
    for (const text of ["2 weeks ago", "yesterday", "2024-01-15 10:00", "2024-01-15T10:00:00Z"])
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

  const ids = (data: Record<string, unknown>) =>
    (data.commits as Commits).map(({ commit }) => commit);

  it("prints long lists as one line each: an id of 10 digits, refs and the subject", async () => {
    const { call, git } = sample();
    const { text, data } = await call("git_log", { max_count: 20 });
    const [newest, middle, oldest] = git("log", "--format=%h", "--abbrev=10").split("\n");
    expect(text).toBe(
      [
        "Commit history:",
        `${newest} (HEAD -> main, tag: v1.0) Our line`,
        `${middle} (tag: v0.9) Add café`,
        `${oldest} First commit`,
      ].join("\n"),
    );
    expect(data.commits).toEqual([
      { commit: newest, refs: ["HEAD -> main", "tag: v1.0"], message: "Our line" },
      { commit: middle, refs: ["tag: v0.9"], message: "Add café" },
      { commit: oldest, message: "First commit" },
    ]);
    expect((await call("git_log", { max_count: 19 })).text).toContain(
      "Author: Test <test@example.org>",
    );
    expect((await call("git_log", { max_count: 1, format: "oneline" })).text).not.toContain(
      "Author",
    );
  });

  it("shows an id that 10 digits leave ambiguous longer, and both texts name the same commits", async () => {
    const { call, git, write } = sample();
    // Two commits whose ids begin with the same 10 digits.
    for (const nonce of [252957, 623593]) {
      const who = "Test <test@example.org> 1700000000 +0000";
      const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
      write("twin", `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nTwin ${nonce}\n`);
      git(
        "update-ref",
        `refs/heads/twin-${nonce}`,
        git("hash-object", "-w", "-t", "commit", "twin").trim(),
      );
    }
    for (const format of ["oneline", "stat"]) {
      const { data, text } = await call("git_log", { revision: "twin-252957", format });
      expect(git("rev-parse", String(ids(data)[0]))).toBe(git("rev-parse", "twin-252957"));
      expect(ids(data)[0]).toMatch(/^6c796b3a1e.+/);
      expect(text).toContain(`\n${ids(data)[0]} `);
    }
    const full = await call("git_log", { revision: "twin-252957" });
    expect(full.text).toMatch(/Commit: 6c796b3a1e.+/);
  });

  it("lists the changed files of each commit, with renames, binary files and a bounded number", async () => {
    const { call, git, write } = sample();
    git("mv", "src/util.ts", "src/tool.ts");
    write("image.bin", new Uint8Array([1, 0, 2]));
    for (let index = 0; index < 12; index++) write(`many/${index}.txt`, "one\ntwo\n");
    git("add", ".");
    git("commit", "--quiet", "-m", "Many");
    git("merge", "--quiet", "--no-edit", "feature");
    const { data, text } = await call("git_log", { format: "stat" });
    const [merge, many] = data.commits as { files?: string[] }[];
    expect(merge?.files).toBeUndefined();
    expect(many).toMatchObject({ author: "Test", date: "2024-01-15" });
    expect(many?.files).toHaveLength(11);
    expect(many?.files?.[0]).toBe("binary image.bin");
    expect(text).toContain("\n binary image.bin\n +2 -0 many/0.txt\n");
    expect(text).toContain("\n … 4 more files\n");
    expect(text).toContain("2024-01-01 Test First commit\n +1 -0 README.md\n +10 -0 src/app.ts");
    expect(text).not.toMatch(/@example|T12:/);
    write("src/tool.ts", "let y;\nlet z;\n");
    git("add", ".");
    git("commit", "--quiet", "-m", "Tool");
    git("mv", "src/tool.ts", "src/kit.ts");
    git("commit", "--quiet", "-m", "Kit");
    const kit = await call("git_log", { format: "stat", max_count: 1 });
    expect(kit.data.commits).toMatchObject([{ files: ["+0 -0 src/tool.ts => src/kit.ts"] }]);
  });
});

describe("git_log with lines", () => {
  type Changes = { commit: string; message: string; diff?: string }[];
  const changes = (data: Record<string, unknown>) => data.commits as Changes;

  it("shows how lines changed, newest first, each with a short diff, across a rename and pages", async () => {
    const { call, git } = sample();
    git("mv", "src/app.ts", "src/a:b.ts");
    git("commit", "--quiet", "-m", "Rename");
    const query = { path: "src/a:b.ts", lines: "2,3" };
    const { data, text } = await call("git_log", query);
    expect(changes(data).map(({ message }) => message)).toEqual(["Our line", "First commit"]);
    expect(changes(data)[0]?.diff).toBe("@@ -2,2 +2,2 @@\n-two\n+OURS\n three");
    const id = git("rev-parse", "--short=10", "HEAD~1").trim();
    expect(text).toContain(
      `\n${id} 2024-01-05 Test (tag: v1.0) Our line\n@@ -2,2 +2,2 @@\n-two\n+OURS\n three\n`,
    );
    const first = await call("git_log", { ...query, max_count: 1 });
    const second = await call("git_log", {
      ...query,
      max_count: 1,
      cursor: first.data.next_cursor,
    });
    expect([...changes(first.data), ...changes(second.data)]).toEqual(changes(data));
    expect(second.data.next_cursor).toBeUndefined();
    expect(changes((await call("git_log", { ...query, revision: "v1.0..HEAD" })).data)).toEqual([]);
    expect(
      changes((await call("git_log", { ...query, lines: "7", grep: "first" })).data),
    ).toHaveLength(1);
  });

  it("takes the name of a function as a whole word", async () => {
    const { call, git, write } = sample();
    for (const text of ["first", "second"]) {
      write("work.c", `int workshop(void)\n{\n}\n\nint work(int a)\n{\n\t${text};\n}\n`);
      git("add", ".");
      git("commit", "--quiet", "-m", text);
    }
    const { data } = await call("git_log", { path: "work.c", lines: "work" });
    expect(changes(data).map(({ message }) => message)).toEqual(["second", "first"]);
    expect(changes(data)[0]?.diff).toContain("-\tfirst;\n+\tsecond;");
    for (const name of [".*", "wor", "w.rd", "^work", "work:src/app.ts", "--output=x", "+1,2"])
      expect((await failureOf(call("git_log", { path: "work.c", lines: name }))).code, name).toBe(
        "bad_range",
      );
  });

  it("explains lines that do not exist, and what cannot be combined", async () => {
    const { call } = sample();
    const path = "src/app.ts";
    const failed = async (args: object) => failureOf(call("git_log", args as never));
    expect((await failed({ lines: "1,2" })).code).toBe("bad_range");
    expect((await failed({ path, lines: "90,95" })).message).toContain("10 lines");
    for (const lines of ["5,2", "0", "a\nb", "x".repeat(300)])
      expect((await failed({ path, lines })).code, lines).toBe("bad_range");
    expect((await failed({ path: "no.ts", lines: "1" })).code).toBe("bad_path");
    expect((await failed({ path: "../x", lines: "1" })).code).toBe("bad_path");
    expect((await failed({ path, lines: "1", revision: "main...feature" })).code).toBe("bad_range");
    expect((await failed({ path, lines: "1", pickaxe: "OURS" })).code).toBe("bad_range");
  });

  it("names the next commit to test between good and bad ones, until the first bad one is left", async () => {
    const { call, git, root } = sample();
    for (let number = 1; number <= 9; number++)
      commitFiles(root, `Number ${number}`, { "number.txt": `${number}\n` });
    const isBad = (commit: string) => Number(git("show", `${commit}:number.txt`)) >= 6;
    const good = [git("rev-parse", "HEAD~8").trim()];
    let bad = "HEAD";
    for (let tests = 0; tests < 6; tests++) {
      const { data } = await call("git_log", { bisect: { good, bad } });
      const [{ commit = "" } = {}] = data.commits as { commit: string }[];
      if (String(data.notes).includes("first bad commit")) break;
      if (isBad(commit)) bad = commit;
      else good.push(commit);
    }
    expect(git("log", "-1", "--format=%s", bad).trim()).toBe("Number 6");
    expect(good.length).toBeLessThan(5);
    const none = await failureOf(call("git_log", { bisect: { good: [bad], bad } }));
    expect(none.code).toBe("bad_range");
    const unknown = call("git_log", { bisect: { good: ["nothing"], bad } });
    expect((await failureOf(unknown)).code).toBe("bad_revision");
  });
});

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { commitFiles, failureOf, git as gitIn, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

/** The sample with commits a, b, c and d on main; each adds a file and changes the same line of another. */
function withCommits() {
  const one = sample();
  for (const name of ["a", "b", "c", "d"])
    commitFiles(one.root, `Add ${name}`, {
      [`${name}.txt`]: `${name}\n`,
      "src/line.ts": `top\n${name}\nend\n`,
    });
  const state = () =>
    one.git("for-each-ref") +
    one.git("status", "--porcelain") +
    one.git("ls-files", "-s") +
    one.git("rev-parse", "HEAD");
  const subjects = () => one.git("log", "--reverse", "--format=%s", "v1.0..").trim().split("\n");
  return { ...one, state, subjects, head: one.git("rev-parse", "HEAD").trim() };
}

describe("git_rewrite", () => {
  it("previews and moves nothing, then applies exactly that, and its undo works", async () => {
    const { call, git, state, subjects, head } = withCommits();
    const unchanged = state();
    const steps = [
      { commit: "HEAD~3", action: "reword", message: "New a" },
      { commit: "HEAD~1", action: "squash", message: "Both\n\nWith a body" },
    ];
    const { data } = await call("git_rewrite", {
      steps: [...steps.slice(0, 1), { commit: "HEAD~2", action: "pick" }, ...steps.slice(1)],
    });
    expect(state()).toBe(unchanged);
    expect(data).toMatchObject({ branch: "main", before: head, applied: false, identical: true });
    expect(data.commits).toEqual([
      expect.stringMatching(/^\w{10} → \w{10} New a$/),
      expect.stringMatching(/^\w{10} \+ \w{10} → \w{10} Both$/),
      expect.stringMatching(/Add d$/),
    ]);
    expect(String(data.range_diff)).toContain("+    New a");
    const { data: done } = await call("git_rewrite", { apply: data.plan });
    expect(done).toMatchObject({ applied: true, before: head, after: data.after });
    expect(git("rev-parse", "HEAD").trim()).toBe(data.after);
    expect(subjects()).toEqual(["New a", "Both", "Add d"]);
    expect(git("log", "-1", "--format=%B", "HEAD~1").trim()).toBe("Both\n\nWith a body");
    expect(git("diff", "--stat", head)).toBe("");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("rev-parse", String(done.recovery)).trim()).toBe(head);
    const [, undo] = /apply (\w+)/.exec(String(done.undo)) ?? [];
    await call("git_rewrite", { apply: undo });
    expect(git("rev-parse", "HEAD").trim()).toBe(head);
  });

  it("keeps unchanged commits, authors, dates and encodings", async () => {
    const { call, git, root } = withCommits();
    const latin = Buffer.from("Caf\xe9\n", "latin1");
    writeFileSync(join(root, ".git", "message"), latin);
    git(
      "-c",
      "i18n.commitEncoding=ISO-8859-1",
      "commit",
      "--quiet",
      "--allow-empty",
      "--author=Ada <ada@example.org>",
      "-F",
      ".git/message",
    );
    const original = git("cat-file", "commit", "HEAD");
    const { data } = await call("git_rewrite", {
      steps: [{ commit: "HEAD~2", action: "reword", message: "New c" }],
    });
    await call("git_rewrite", { apply: data.plan });
    const now = git("cat-file", "commit", "HEAD");
    expect(now.replace(/^(parent|committer).*/gm, "")).toBe(
      original.replace(/^(parent|committer).*/gm, ""),
    );
    expect(now).toContain("encoding ISO-8859-1");
    expect(git("log", "-1", "--format=%s %an").trim()).toBe("Café Ada");
    expect(String(data.commits)).toMatch(/New c,.* Add d,.* Café$/);
  });

  it("combines a commit with the one before it, and drops one", async () => {
    const { call, git, subjects, root } = withCommits();
    const fixed = await call("git_rewrite", { steps: [{ commit: "HEAD", action: "fixup" }] });
    expect(fixed.data.commits).toEqual([
      expect.stringMatching(/^\w{10} \+ \w{10} → \w{10} Add c$/),
    ]);
    const { data } = await call("git_rewrite", { steps: [{ commit: "HEAD", action: "drop" }] });
    expect(data).toMatchObject({
      identical: false,
      difference: ["+0 -1 d.txt", "+1 -1 src/line.ts"],
    });
    expect(data.dropped).toHaveLength(1);
    await call("git_rewrite", { apply: data.plan });
    expect(subjects()).toEqual(["Add a", "Add b", "Add c"]);
    expect(readFileSync(join(root, "src/line.ts"), "utf8")).toBe("top\nc\nend\n");
    expect(git("status", "--porcelain")).toBe("");
  });

  it("reports conflicts as data, and takes a side or texts as their resolution", async () => {
    const { call, git, state, root } = withCommits();
    const unchanged = state();
    const steps = ["HEAD~1", "HEAD", "HEAD~2", "HEAD~3"].map((commit) => ({
      commit,
      action: "pick",
    }));
    const { data } = await call("git_rewrite", { steps });
    expect(data.plan).toBeUndefined();
    expect(data.applying).toMatch(/^\w{10} Add c \(1 of 4\)$/);
    expect(data.conflicts).toEqual([
      {
        path: "src/line.ts",
        kind: "deleted by us",
        base: "top\nb\nend\n",
        theirs: "top\nc\nend\n",
      },
    ]);
    const path = "src/line.ts";
    const resolutions: object[] = [{ commit: "HEAD~1", path, side: "theirs" }];
    const second = await call("git_rewrite", {
      steps,
      resolutions: [...resolutions, { commit: "HEAD~2", path, texts: ["x"] }],
    });
    expect(second.data.applying).toMatch(/Add a \(4 of 4\)$/);
    resolutions.push({ commit: "HEAD~2", path, texts: ["x"] });
    expect(
      (
        await failureOf(
          call("git_rewrite", { steps, resolutions: [...resolutions, { commit: "HEAD~3", path }] }),
        )
      ).code,
    ).toBe("bad_resolution");
    resolutions.push({ commit: "HEAD~3", path, texts: ["top\nlast\nend\n"] });
    expect(state()).toBe(unchanged);
    const third = await call("git_rewrite", { steps, resolutions });
    await call("git_rewrite", { apply: third.data.plan });
    expect(readFileSync(join(root, path), "utf8")).toBe("top\nlast\nend\n");
    expect(git("show", `HEAD~1:${path}`)).toBe("top\nx\nend\n");
    expect(git("status", "--porcelain")).toBe("");
  });

  it("resolves each conflict of a file by itself", async () => {
    const { call, git, root } = sample();
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\n`);
    const text = (...changes: [number, string][]) =>
      lines.map((line, index) => changes.find(([at]) => at === index)?.[1] ?? line).join("");
    commitFiles(root, "Base", { "f.txt": text() });
    commitFiles(root, "One", { "f.txt": text([3, "one\n"], [30, "one\n"]) });
    commitFiles(root, "Two", { "f.txt": text([3, "two\n"], [30, "two\n"], [20, "clean\n"]) });
    const steps = [{ commit: "HEAD~1", action: "drop" }];
    const { data } = await call("git_rewrite", { steps });
    expect(data.conflicts).toMatchObject([
      {
        kind: "both modified",
        hunks: [{ line: 4, base: "one\n", ours: "line 3\n", theirs: "two\n" }, { line: 31 }],
      },
    ]);
    const few = { steps, resolutions: [{ commit: "HEAD", path: "f.txt", texts: ["x"] }] };
    expect((await failureOf(call("git_rewrite", few))).message).toContain(
      "has 1 text, and the conflict 2 hunks",
    );
    const { data: solved } = await call("git_rewrite", {
      steps,
      resolutions: [{ commit: "HEAD", path: "f.txt", texts: ["first", "second"] }],
    });
    expect(git("show", `${solved.after}:f.txt`)).toBe(
      text([3, "first\n"], [20, "clean\n"], [30, "second\n"]),
    );
  });

  it("moves the commits of a branch that is not checked out onto another commit", async () => {
    const { call, git } = sample();
    const before = git("rev-parse", "HEAD") + git("status", "--porcelain");
    const { data } = await call("git_rewrite", { branch_name: "feature", onto: "main" });
    await call("git_rewrite", { apply: data.plan });
    expect(git("rev-parse", "feature~1")).toBe(git("rev-parse", "main"));
    expect(git("rev-parse", "HEAD") + git("status", "--porcelain")).toBe(before);
  });

  it("keeps local changes, and refuses to overwrite them", async () => {
    const { call, git, write, state, root } = withCommits();
    write("README.md", "mine\n");
    const steps = [{ commit: "HEAD", action: "drop" }];
    const { data } = await call("git_rewrite", { steps });
    write("src/line.ts", "mine too\n");
    const unchanged = state();
    expect((await failureOf(call("git_rewrite", { apply: data.plan }))).code).toBe("local_changes");
    expect(state()).toBe(unchanged);
    expect(readFileSync(join(root, "src/line.ts"), "utf8")).toBe("mine too\n");
    git("checkout", "--quiet", "src/line.ts");
    await call("git_rewrite", { apply: data.plan });
    expect(readFileSync(join(root, "README.md"), "utf8")).toBe("mine\n");
    expect(git("status", "--porcelain").trim()).toBe("M README.md");
  });

  it("refuses a plan if the branch has moved, another server's plan, and a branch of another worktree", async () => {
    const { call, git, root, place } = withCommits();
    const steps = [{ commit: "HEAD", action: "reword", message: "New" }];
    const { data } = await call("git_rewrite", { steps });
    commitFiles(root, "Later", { "later.txt": "x\n" });
    expect((await failureOf(call("git_rewrite", { apply: data.plan }))).code).toBe("stale_plan");
    expect(
      (await failureOf(call("git_rewrite", { apply: git("rev-parse", "HEAD~1").trim() }))).code,
    ).toBe("stale_plan");
    git("worktree", "add", "--quiet", place.path("linked"), "feature");
    const other = await call("git_rewrite", { branch_name: "feature", onto: "main" });
    expect((await failureOf(call("git_rewrite", { apply: other.data.plan }))).code).toBe(
      "branch_in_use",
    );
    expect(gitIn(place.path("linked"), "status", "--porcelain")).toBe("");
  });

  it("refuses merges, unclear steps and empty messages", async () => {
    const { call, git } = withCommits();
    const codeFor = async (steps: object[], more = {}) =>
      (await failureOf(call("git_rewrite", { steps, ...more }))).code;
    expect(await codeFor([])).toBe("bad_steps");
    expect(await codeFor([{ commit: "HEAD", action: "reword" }])).toBe("bad_message");
    expect(
      await codeFor([
        { commit: "HEAD", action: "pick" },
        { commit: "HEAD~0", action: "drop" },
      ]),
    ).toBe("bad_steps");
    expect(await codeFor([{ commit: "feature", action: "drop" }])).toBe("bad_steps");
    expect(
      await codeFor([
        { commit: "HEAD", action: "pick" },
        { commit: "HEAD~2", action: "pick" },
      ]),
    ).toBe("bad_steps");
    expect(await codeFor([{ commit: "HEAD", action: "drop" }], { branch_name: "--all" })).toBe(
      "bad_revision",
    );
    expect(await codeFor([{ commit: "--all", action: "drop" }])).toBe("bad_revision");
    git("merge", "--quiet", "--no-edit", "feature");
    expect(await codeFor([{ commit: "HEAD~1", action: "drop" }])).toBe("merge_in_range");
    git("checkout", "--quiet", "--detach");
    expect(await codeFor([{ commit: "HEAD", action: "drop" }])).toBe("detached_head");
  });

  it("warns about published commits and dropped signatures, and rewrites the first commit", async () => {
    const { call, git, root } = withCommits();
    git("update-ref", "refs/remotes/origin/main", "HEAD~1");
    const text = git("cat-file", "commit", "HEAD").replace(
      "\n\n",
      "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n\n",
    );
    writeFileSync(join(root, ".git", "signed"), text);
    git(
      "reset",
      "--quiet",
      "--soft",
      git("hash-object", "-w", "-t", "commit", ".git/signed").trim(),
    );
    const { data } = await call("git_rewrite", {
      steps: [{ commit: "HEAD~1", action: "reword", message: "x" }],
    });
    expect(data.notes).toEqual([
      expect.stringMatching(/published on a remote branch: 1 of 2 commits/),
      "1 signature dropped.",
    ]);
    const first = git("rev-list", "--max-parents=0", "HEAD").trim();
    const root2 = await call("git_rewrite", {
      steps: [{ commit: first, action: "reword", message: "New first" }],
    });
    expect(root2.data).toMatchObject({ identical: true });
    expect(git("log", "--max-parents=0", "--format=%s", String(root2.data.after)).trim()).toBe(
      "New first",
    );
  });

  it("lets commit-msg check new messages, and refuses if nobody can be asked", async () => {
    const { call, root, git } = withCommits();
    mkdirSync(join(root, ".git", "hooks"), { recursive: true });
    const hook = join(root, ".git", "hooks", "commit-msg");
    writeFileSync(
      hook,
      '#!/bin/sh\ngrep -q bad "$1" && echo "no bad words" && exit 1\necho "Checked: yes" >> "$1"\n',
    );
    chmodSync(hook, 0o755);
    const steps = (message: string) => ({ steps: [{ commit: "HEAD", action: "reword", message }] });
    const { data } = await call("git_rewrite", steps("Good"));
    expect(git("log", "-1", "--format=%B", String(data.after)).trim()).toBe("Good\nChecked: yes");
    const rejected = await failureOf(call("git_rewrite", steps("bad")));
    expect(rejected).toMatchObject({
      code: "hook_failed",
      message: expect.stringContaining("no bad words"),
    });
    expect((await failureOf(call("git_rewrite", steps("Good"), fakeCall()))).code).toBe(
      "hook_needed",
    );
    const skipped = await call("git_rewrite", { ...steps("bad"), skip_hooks: true }, fakeCall());
    expect(skipped.data.notes).toEqual(["Did not run the hooks commit-msg: skip_hooks."]);
  });
});

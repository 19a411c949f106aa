import { fakeCall } from "@refmcp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { at, failureOf, makeDirty, sampleRepository, scratch } from "./fixture.ts";

const APP = "src/app.ts";
const of = <Key extends string>(key: Key, ...values: readonly unknown[]) =>
  values.map((value) => ({ [key]: value }));
const with_ = (args: object, all: readonly object[]) => all.map((more) => ({ ...args, ...more }));

/** What each tool refuses in the sample with uncommitted changes, and the error's code. */
const REFUSED: readonly [tool: string, code: string, all: readonly object[]][] = [
  ["git_log", "bad_date", of("start_timestamp", "some day", "5 bananas", "2024-01-15 sharp")],
  ["git_log", "bad_date", of("end_timestamp", "in 3 days", "2024-13-45")],
  ["git_log", "bad_range", [{ lines: "1,2" }, { path: APP, lines: "1", pickaxe: "OURS" }]],
  ["git_log", "bad_range", [{ path: APP, lines: "1", revision: "main...feature" }]],
  ["git_log", "bad_range", with_({ path: APP }, of("lines", "5,2", "a\nb", "90,95", ".*", "-x"))],
  ["git_log", "bad_range", [{ bisect: { good: ["main"], bad: "main" } }]],
  ["git_log", "bad_path", with_({ lines: "1" }, of("path", "no.ts", "../x"))],
  ["git_show", "bad_range", [{ revision: `HEAD:${APP}`, start_line: 3, end_line: 2 }]],
  ["git_blame", "bad_path", of("path", "no.ts", "../x")],
  ["git_blame", "bad_range", [{ path: APP, start_line: 99 }]],
  ["git_grep", "bad_pattern", of("pattern", "(", "(?<")],
  ["git_list_files", "bad_path", of("paths", ["../"], [".git"], ["a/../../b"])],
  ["git_status", "bad_path", of("paths", ["/etc/passwd"], ["a/.GIT/hooks"], [""])],
  ["git_add", "ignored_path", [{ files: ["notes.txt", "build.log"] }]],
  ["git_add", "bad_path", of("files", ["notes.txt", "missing"], ["/etc/passwd"], [".git/config"])],
  ["git_add", "bad_hunk", of("hunks", ["HEAD"], ["--all"], ["3fa01c2:1"], [""])],
  ["git_add", "stale_hunk", [{ hunks: ["0000000"] }]],
  ["git_add", "nothing_named", [{}]],
  ["git_commit", "bad_message", of("message", " \n")],
  ["git_commit", "bad_author", [{ message: "x", author: "--amend" }]],
  ["git_reset", "bad_revision", of("revision", "nothing")],
  ["git_create_branch", "branch_exists", of("branch_name", "feature")],
  ["git_create_branch", "bad_name", of("branch_name", "--force", "a..b", "HEAD", "@{-1}")],
  ["git_checkout", "branch_exists", [{ branch_name: "main", create: true }]],
  ["git_checkout", "bad_name", with_({ create: true }, of("branch_name", "--orphan", "a..b"))],
  ["git_checkout", "bad_revision", of("branch_name", APP, "README.md", "--", "-", "--force")],
  ["git_checkout", "local_changes", of("branch_name", "feature")],
  ["git_restore", "bad_path", of("files", ["nothing"], ["../x"])],
  ["git_stash_apply", "bad_revision", of("stash", "v0.9", "stash@{9}")],
  ["git_merge", "local_changes", of("revision", "feature")],
  ["git_merge", "bad_argument", [{}]],
  ["git_list_refs", "bad_argument", [{ kind: "stashes", contains: "main" }]],
  ["git_merge", "no_operation", of("action", "continue", "skip", "abort")],
  ["git_create_tag", "tag_exists", of("tag_name", "v1.0")],
  ["git_create_tag", "bad_name", of("tag_name", "-f")],
  ["git_set_remote", "protocol_not_allowed", with_({ remote: "x" }, of("url", "ext::sh", "/etc"))],
  ["git_set_remote", "bad_url", [{ remote: "x", url: "ssh://-oProxyCommand=x/y" }]],
  ["git_set_remote", "bad_name", with_({ url: "https://x.org/a" }, of("remote", "-x", "a b"))],
  ["git_rebase", "bad_steps", of("steps", [], [{ commit: "feature", action: "drop" }])],
  ["git_rebase", "bad_steps", of("steps", [{ commit: "HEAD", action: "squash" }])],
  ["git_rebase", "bad_message", of("steps", [{ commit: "HEAD", action: "reword" }])],
  ["git_rebase", "stale_plan", of("apply", "feature")],
  ["git_delete", "branch_in_use", [{ kind: "branch", name: "main" }]],
  ["git_delete", "bad_revision", with_({ kind: "branch" }, of("name", "--all", "v1.0", "featur"))],
  ["git_delete", "bad_revision", with_({ kind: "tag" }, of("name", "v1.1", "-d", "main"))],
  ["git_delete", "bad_revision", with_({ kind: "stash" }, of("name", "main", "stash@{5}", "0"))],
  ["git_clean", "nothing_to_clean", of("files", ["src"])],
];

/** What loses something: refused where the user declines or cannot be asked. */
const LOSING: readonly [tool: string, args: object][] = [
  ["git_reset_hard", { revision: "v0.9" }],
  ["git_clean", {}],
  ["git_delete", { kind: "branch", name: "feature" }],
  ["git_delete", { kind: "tag", name: "v0.9" }],
  ["git_delete", { kind: "stash", name: "stash@{0}" }],
];

describe("a refused call changes nothing:", () => {
  const place = scratch();
  afterAll(() => place.dispose());
  const root = makeDirty(sampleRepository(place.path("repo")));
  const { call, git, read, write } = at(root, {}, place.folder);
  const state = () => [
    git("for-each-ref"),
    git("rev-parse", "HEAD"),
    git("ls-files", "--stage"),
    ...["notes.txt", APP].map(read),
  ];
  write("out/.gitignore", "/made.txt\n");
  write("out/made.txt", "made\n");
  git("status");
  const before = state();

  it.each(REFUSED)("%s with %s", async (tool, code, all) => {
    for (const args of all) {
      const error = await failureOf(call(tool, args));
      expect(error.code, JSON.stringify(args)).toBe(code);
      expect(`${error.message} ${error.hint ?? ""}`).toMatch(/.{20}/);
    }
    expect(state()).toEqual(before);
  });

  it.each(LOSING)("%s %o, unless the user agrees", async (tool, args) => {
    const times = read(".git/index");
    for (const asked of [fakeCall(), fakeCall({ agrees: false })])
      expect((await failureOf(call(tool, args, asked))).kind).toBe("denied");
    expect(read(".git/index") === times).toBe(true);
    expect(state()).toEqual(before);
  });
});

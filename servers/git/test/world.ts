import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import {
  type Arguments,
  commitFiles,
  copyDirectory,
  emptyRepository,
  git,
  gitWith,
  makeDirty,
  type Scratch,
  sampleRepository,
  scratch,
  write,
} from "./fixture.ts";
import { serveGit } from "./http-server.ts";

/** Options that offer every tool and allow remotes on loopback. */
export const ALL_TOOLS = ["--toolsets", "read,write,extra,remote,danger"];

/** A call of each tool that works, and in a repository with traps reaches them. */
export const CALLS: Readonly<Record<string, Arguments>> = {
  git_status: {},
  git_diff_unstaged: {},
  git_diff_staged: {},
  git_diff: { target: "v0.9" },
  git_log: { pickaxe: "OURS" },
  git_show: { revision: "v1.0" },
  git_branch: { branch_type: "all" },
  git_blame: { path: "src/app.ts", end_line: 4 },
  git_grep: { pattern: "[fF]our", ignore_case: true },
  git_list_files: { kind: "untracked" },
  git_list_refs: { kind: "stashes" },
  git_reflog: {},
  git_add: { files: ["."] },
  git_commit: { message: "All", files: ["src/app.ts", "notes.txt"] },
  git_reset: {},
  git_create_branch: { branch_name: "topic/new", base_branch: "v0.9" },
  git_checkout: { branch_name: "feature" },
  git_restore: { files: ["src"], source: "v0.9", staged: true },
  git_stash: { message: "later", include_untracked: true },
  git_stash_apply: {},
  git_merge: { revision: "feature" },
  git_cherry_pick: { commits: ["feature"] },
  git_revert: { commit: "HEAD" },
  git_create_tag: { tag_name: "v2.0", message: "Version two" },
  git_worktree_add: { path: "twin", branch_name: "feature" },
  git_set_remote: { remote: "upstream", url: "http://127.0.0.1/other.git" },
  git_init: { path: "fresh" },
  git_clone: { path: "cloned", branch: "main" },
  git_fetch: {},
  git_pull: { branch_name: "news" },
  git_push: {},
  git_reset_hard: { revision: "v0.9" },
  git_clean: { ignored: true },
  git_rebase: { steps: [{ commit: "HEAD", action: "reword", message: "Our better line" }] },
  git_delete: { kind: "branch", name: "conflicting" },
  git_push_force_with_lease: { branch_name: "feature" },
};
/** Those that get a repository without uncommitted changes. */
export const ON_CLEAN: ReadonlySet<string> = new Set(
  ["checkout", "stash_apply", "merge", "cherry_pick", "revert", "rebase", "set_remote"]
    .concat(["fetch", "pull", "push", "push_force_with_lease"])
    .map((name) => `git_${name}`),
);

const SECRET = "sesame-open";
/** What is the address of the upstream in the template. */
const ORIGIN = "http://origin.invalid/";
const WITH_ORIGIN = ["repo", "tidy", "ci"];
let templates: Scratch | undefined;
let known: ReadonlySet<string> = new Set();

/**
 * The template of each world: `repo` with uncommitted changes, `tidy` without, `ci` a shallow clone, `big` with many of everything, and
 * `upstream.git`, the origin of the first two.
 */
function template(): Scratch {
  if (templates !== undefined) return templates;
  const made = scratch();
  const repo = sampleRepository(made.path("repo"));
  const tidy = made.path("tidy");
  const upstream = made.path("upstream.git");
  makeUpstream(repo, upstream);
  copyDirectory(repo, tidy);
  makeDirty(repo);
  bigRepository(made.path("big"));
  git(made.folder, "clone", "--quiet", "--depth=1", "--template=", `file://${upstream}`, "ci");
  for (const root of WITH_ORIGIN) git(made.path(root), "config", "remote.origin.url", ORIGIN);
  git(tidy, "worktree", "add", "--quiet", "-b", "linked", made.path("linked"), "v0.9");
  known = new Set(
    [repo, upstream].flatMap((root) =>
      git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split("\n"),
    ),
  );
  templates = made;
  return made;
}

/** The upstream of a repository: behind on main, diverged on feature, and with commits on news that exist nowhere else. */
export function makeUpstream(root: string, bare: string): void {
  emptyRepository(bare, "--bare");
  git(bare, "config", "http.receivepack", "true");
  git(root, "checkout", "--quiet", "-b", "news");
  commitFiles(root, "News", { "src/news.ts": "fresh\n" }, 6);
  const refs = ["news", "v0.9:refs/heads/main", "conflicting:refs/heads/feature"];
  git(root, "push", "--quiet", bare, ...refs);
  git(root, "checkout", "--quiet", "main");
  git(root, "branch", "--quiet", "-D", "news");
  git(root, "update-ref", "refs/remotes/origin/main", "v0.9");
  git(root, "update-ref", "refs/remotes/origin/feature", "conflicting");
}

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
  writeFileSync(file, text.replace(from, to));
}

function bigRepository(root: string): void {
  emptyRepository(root);
  const line = "the same words over and over again, so that there is something to find\n";
  for (let index = 0; index < 250; index++)
    write(root, `folder-${index % 10}/a-rather-long-name-of-a-file-${index}.txt`, line.repeat(5));
  git(root, "add", "-A");
  const date = "2024-01-01T12:00:00+00:00";
  const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  for (let index = 0; index < 60; index++) {
    const message = `Commit ${index}\n\n${line.repeat(10)}`;
    gitWith(root, dates, "commit", "--quiet", "--allow-empty", "-m", message);
  }
  const head = git(root, "rev-parse", "HEAD").trim();
  for (let index = 0; index < 150; index++) {
    write(root, `.git/refs/heads/a-rather-long-name-of-a-branch-for-work/${index}`, `${head}\n`);
    write(root, `.git/refs/tags/a-rather-long-name-of-a-tag-for-a-release/${index}`, `${head}\n`);
  }
  commitFiles(
    root,
    "Much changed",
    { "big.txt": line.repeat(5_000), "long.txt": `${"x".repeat(200_000)}\n` },
    2,
  );
  // One pack and one file of refs: every world is a copy.
  git(root, "gc", "--quiet");
  write(root, "big.txt", line.toUpperCase().repeat(5_000));
}

/** A fresh world for the contract. */
export async function world(): Promise<World> {
  const source = template();
  const place = scratch();
  copyDirectory(source.folder, place.folder);
  const server = await serveGit(place.folder);
  const url = `http://user:${SECRET}@127.0.0.1:${server.port}/upstream.git`;
  // Without processes of git, which would take longer than all else.
  for (const root of WITH_ORIGIN) replaceIn(place.path(root, ".git", "config"), ORIGIN, url);
  for (const file of ["linked/.git", "tidy/.git/worktrees/linked/gitdir"])
    replaceIn(place.path(file), source.folder, place.folder);
  const repo = { repo_path: "repo" };
  const tidy = { repo_path: "tidy" };
  const big = { repo_path: "big" };
  return {
    args: [place.folder, "--protocols", "http", "--allow-host", "127.0.0.1"],
    env: { HOME: place.home },
    secret: SECRET,
    calls: {
      ...Object.fromEntries(
        Object.entries(CALLS).map(([tool, args]) => [
          tool,
          { ...(ON_CLEAN.has(tool) ? tidy : repo), ...args },
        ]),
      ),
      git_list_refs: { ...repo, kind: "remotes" },
      git_init: CALLS.git_init ?? {},
      git_clone: { ...CALLS.git_clone, url: `${server.url}/upstream.git` },
    },
    failures: {
      git_diff: { ...repo, target: "--output=x" },
      git_show: { ...repo, revision: "HEAD:nothing" },
      git_branch: { ...repo, contains: "nothing" },
      git_reflog: { ...repo, ref: "nothing" },
      git_commit: { ...tidy, message: "Nothing staged" },
      git_stash: tidy,
      git_merge: { ...tidy, revision: "conflicting" },
      git_init: { path: "repo" },
      git_clone: { url: "ext::sh -c x", path: "cloned" },
      git_fetch: { ...repo, remote: "upstream" },
    },
    large: {
      git_log: { ...big, max_count: 1_000 },
      git_diff_unstaged: big,
      git_show: { ...big, revision: "HEAD" },
      git_branch: { ...big, limit: 1_000 },
      git_blame: { ...big, path: "big.txt" },
      git_grep: { ...big, pattern: "words", limit: 1_000 },
      git_list_files: { ...big, limit: 5_000 },
      git_list_refs: { ...big, kind: "tags", limit: 1_000 },
    },
    fingerprint: async () => fingerprintOf(place.folder),
    stable: (text) =>
      text
        .replaceAll(place.folder, "<folder>")
        .replaceAll(`127.0.0.1:${server.port}`, "127.0.0.1:<port>")
        .replaceAll(/\d{8}T\d{6}Z-([a-z-]+)-[0-9a-f]{6}/g, "<time>-$1-<random>")
        .replaceAll(/((?:next_)?cursor\\?"?:? ?\\?")[\w-]{20,}/g, "$1<cursor>")
        .replaceAll(/\b[0-9a-f]{40}\b/g, (oid) => (known.has(oid) ? oid : "<new object>"))
        .replaceAll(/("plan\\?":\s?\\?"|→ |[!=] 1: {2})[0-9a-f]{7,16}/g, "$1<new>"),
    async dispose() {
      await server.close();
      place.dispose();
    },
  };
}

/** Removes the template of the worlds. */
export function disposeTemplate(): void {
  templates?.dispose();
  templates = undefined;
}

function fingerprintOf(folder: string): string {
  const hash = createHash("sha256");
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => `${join(entry.parentPath, entry.name)}${entry.isFile() ? "" : "/"}`)
    .sort();
  for (const name of names) {
    hash.update(name);
    if (!name.endsWith("/")) hash.update(readFileSync(name));
  }
  return hash.digest("hex");
}

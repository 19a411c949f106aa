import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { tools } from "../src/tools/index.ts";
import {
  type Arguments,
  callTool,
  copyDirectory,
  emptyRepository,
  git,
  gitOver,
  gitWith,
  makeDirty,
  type Scratch,
  sampleRepository,
  scratch,
} from "./fixture.ts";
import { serveGit } from "./http-server.ts";
import { executable } from "./traps.ts";

/** One call of the matrix. */
export interface ToolCall {
  readonly tool: string;
  readonly args: Arguments;
}

/** What a hostile repository and its harmless twin have in common. */
export interface Base {
  readonly name: string;
  /** Additions to the sample. */
  build?(root: string): void;
  /** How the remote is reached: http (the default), with or without a login of the user, or the user's ssh. */
  readonly transport?: "login" | "locked" | "ssh";
  /** Whether it has remotes `login`, `locked` and `ssh` as well, by these transports. */
  readonly remotes?: true;
  /** Calls in addition to one for each tool. */
  readonly calls?: readonly ToolCall[];
}

/** The answer of a call, and the state after it. */
export interface Found {
  readonly outcome: string;
  readonly state: readonly string[];
}

/** Tools that need a clean working tree; all others get a dirty one. */
const ON_CLEAN: ReadonlySet<string> = new Set([
  "git_checkout",
  "git_merge",
  "git_cherry_pick",
  "git_revert",
  "git_rebase",
  "git_pull",
]);

/** Arguments with which each tool works and reaches the traps. */
const ARGUMENTS: Readonly<Record<string, Arguments>> = {
  git_diff: { target: "v0.9" },
  git_log: { pickaxe: "OURS" },
  git_show: { revision: "main" },
  git_blame: { path: "src/app.ts" },
  git_grep: { pattern: "[fF]our", ignore_case: true },
  git_list_files: { kind: "untracked" },
  git_list_refs: { kind: "stashes" },
  git_add: { files: ["."] },
  git_commit: { message: "All", files: ["src/app.ts", "notes.txt"] },
  git_create_branch: { branch_name: "fresh" },
  git_checkout: { branch_name: "feature" },
  git_restore: { files: ["src"], source: "v0.9", staged: true },
  git_stash: { include_untracked: true },
  git_merge: { revision: "feature" },
  git_cherry_pick: { commits: ["feature"] },
  git_revert: { commit: "v1.0" },
  git_create_tag: { tag_name: "v2.0", message: "Two" },
  git_worktree_add: { path: "twin", branch_name: "feature" },
  git_delete: { kind: "branch", name: "conflicting" },
  git_set_remote: { remote: "upstream", url: "http://127.0.0.1/x.git" },
  git_init: { path: "new" },
  git_clone: { path: "cloned", branch: "main" },
  git_pull: { branch_name: "news" },
  git_reset_hard: { revision: "v0.9" },
  git_clean: { ignored: true },
  git_rebase: { steps: [{ commit: "HEAD", action: "reword", message: "New" }] },
  git_push_force_with_lease: { branch_name: "feature" },
};

/** Tools that contact the repository's remote. */
export const REMOTE: ReadonlySet<string> = new Set([
  "git_delete",
  "git_fetch",
  "git_pull",
  "git_push",
  "git_push_force_with_lease",
]);

/** A call of the tool that works and reaches the traps. */
export const callOf = (tool: string): ToolCall => ({ tool, args: ARGUMENTS[tool] ?? {} });

const NEW_DIRECTORY_TOOLS: ReadonlySet<string> = new Set([
  "git_init",
  "git_clone",
  "git_worktree_add",
]);
const LOGIN = "ada:lovelace";
/** The folder with the repository, and the one with its upstream. */
const SUFFIXES = ["", "-upstream"];

/** The environment of the matrix: templates, a folder for copies, and the remotes' servers. */
export interface Matrix {
  readonly place: Scratch;
  /**
   * A fresh repository `repo` in the folder, always under the same name, and its upstream next to the folder.
   */
  copy(base: Base, folder: string, dirty: boolean, withUpstream?: boolean): string;
  /** The outcome of each call, each in its own copy; reading tools share one. */
  run(
    folder: string,
    base: Base,
    calls: readonly ToolCall[],
    plant: (root: string) => void,
    check: (call: string) => void,
  ): Promise<Map<string, Found>>;
  dispose(): Promise<void>;
}

/** Starts the servers, and sets up a user with credentials for one and an ssh command for the other. */
export async function matrix(): Promise<Matrix> {
  const place = scratch();
  const open = await serveGit(place.folder);
  const login = await serveGit(place.folder, { login: LOGIN });
  const locked = await serveGit(place.folder, { login: LOGIN });
  const [user, password] = LOGIN.split(":");
  const helper = executable(
    join(place.home, "helper.sh"),
    `[ "$1" = get ] && printf 'username=${user}\\npassword=${password}\\n'`,
  );
  // Simulates a login to another machine: runs the command that ssh gets, like the remote side.
  const ssh = executable(
    join(place.home, "ssh.sh"),
    '[ "$1" = -G ] && exit 1\nfor last; do :; done\neval "$last"',
  );
  appendFileSync(
    join(place.home, ".gitconfig"),
    `[credential "${login.url}"]\n\thelper = ${helper}\n[core]\n\tsshCommand = ${ssh}\n`,
  );
  const urlOf = (base: Base, folder: string): string => {
    const path = `${folder.slice(place.folder.length)}-upstream/origin.git`;
    if (base.transport === "ssh") return `ssh://127.0.0.1${place.folder}${path}`;
    const { url } = { login, locked, http: open }[base.transport ?? "http"];
    return url + path;
  };

  const copy = (base: Base, folder: string, dirty: boolean, withUpstream = true): string => {
    replace(folder, template(place, base, dirty), withUpstream ? SUFFIXES : [""]);
    const root = join(folder, "repo");
    const config = join(root, ".git", "config");
    const text = readFileSync(config, "utf8");
    const others = base.remotes ? (["login", "locked", "ssh"] as const) : [];
    const more = others.map(
      (transport) => `[remote "${transport}"]\n\turl = ${urlOf({ name: "", transport }, folder)}\n`,
    );
    const origin = `\turl = ${urlOf(base, folder)}`;
    writeFileSync(config, text.replace(/^\turl = https:.*$/m, origin) + more.join(""));
    return root;
  };

  const run: Matrix["run"] = async (folder, base, calls, plant, check) => {
    const found = new Map<string, Found>();
    const isReading = ({ tool }: ToolCall) =>
      tools.find(({ name }) => name === tool)?.effect === "read";
    // Planting takes dozens of processes, so it is done once; the calls get copies.
    const planted = place.path("planted");
    for (const state of ["dirty", "clean"]) {
      plant(copy(base, folder, state === "dirty"));
      replace(join(planted, state), folder, SUFFIXES);
    }
    const fresh = (dirty: boolean, withUpstream: boolean): void =>
      replace(folder, join(planted, dirty ? "dirty" : "clean"), withUpstream ? SUFFIXES : [""]);
    fresh(true, true);
    for (const call of [...calls.filter(isReading), ...calls.filter((one) => !isReading(one))]) {
      const reads = isReading(call);
      const transfers = REMOTE.has(call.tool) || call.tool === "git_clone";
      if (!reads) fresh(!ON_CLEAN.has(call.tool), transfers);
      if (call.args.kind === "worktree") addLinked(folder);
      const outcome = await outcomeOf(folder, call, urlOf(base, folder));
      const name = `${call.tool} ${JSON.stringify(call.args)}`;
      check(name);
      found.set(name, { outcome, state: reads ? [] : stateOf(folder, transfers) });
    }
    return found;
  };

  return {
    place,
    copy,
    run,
    async dispose() {
      for (const server of [open, login, locked]) await server.close();
      place.dispose();
    },
  };
}

/** Makes the folders (`folder` and a suffix) copies of those of the source. */
function replace(folder: string, source: string, suffixes: readonly string[]): void {
  for (const suffix of suffixes) {
    rmSync(folder + suffix, { recursive: true, force: true });
    copyDirectory(source + suffix, folder + suffix);
  }
}

/** A linked worktree with a change, created without running anything of the repository. */
function addLinked(folder: string): void {
  const plain = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "hook.evil.enabled=false",
  ].flatMap((set) => ["-c", set]);
  git(
    join(folder, "repo"),
    ...plain,
    "worktree",
    "add",
    "--quiet",
    "--no-checkout",
    "-b",
    "linked",
    "../linked",
  );
  git(join(folder, "linked"), ...plain, "read-tree", "v0.9^{tree}");
}

/** Signs the last commit, so that there is something to verify. */
function signLast(root: string): void {
  const [head = "", ...message] = git(root, "cat-file", "commit", "HEAD").split("\n\n");
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const file = join(root, ".git", "signed");
  writeFileSync(file, `${head}\n${signature}\n\n${message.join("\n\n")}`);
  const oid = git(root, "hash-object", "-w", "-t", "commit", file).trim();
  git(root, "update-ref", "refs/heads/main", oid);
  git(root, "tag", "-f", "v1.0", oid);
  rmSync(file);
}

/** The upstream: behind on main, ahead with commits that exist nowhere else, and diverged on feature. */
function makeUpstream(root: string, bare: string): void {
  emptyRepository(bare, "--bare");
  git(root, "push", "--quiet", bare, "v0.9", "v1.0:refs/heads/feature", "v0.9:refs/heads/main");
  git(bare, "config", "http.receivepack", "true");
  const index = { GIT_INDEX_FILE: join(bare, "index") };
  writeFileSync(join(bare, "news.ts"), "fresh\n");
  const blob = git(bare, "hash-object", "-w", "news.ts").trim();
  gitWith(bare, index, "read-tree", "feature");
  gitWith(bare, index, "update-index", "--add", "--cacheinfo", `100644,${blob},src/news.ts`);
  const tree = gitWith(bare, index, "write-tree").trim();
  git(
    bare,
    "update-ref",
    "refs/heads/news",
    git(bare, "commit-tree", "-p", "feature", "-m", "News", tree).trim(),
  );
  git(root, "update-ref", "refs/remotes/origin/main", "v0.9");
  git(root, "update-ref", "refs/remotes/origin/feature", "v1.0^{commit}");
}

function template(place: Scratch, base: Base, dirty: boolean): string {
  const folder = place.path("templates", `${base.name}-${dirty ? "dirty" : "clean"}`);
  if (existsSync(folder)) return folder;
  const root = sampleRepository(join(folder, "repo"));
  base.build?.(root);
  signLast(root);
  makeUpstream(root, join(`${folder}-upstream`, "origin.git"));
  if (dirty) makeDirty(root);
  return folder;
}

/** The answer or the error's code, without what differs between copies: ids, times, paths, notes. */
async function outcomeOf(folder: string, { tool, args }: ToolCall, url: string): Promise<string> {
  const over = gitOver([folder], {
    protocols: ["http", "ssh"],
    allowedHosts: ["127.0.0.1"],
    hooks: "off",
  });
  const { path } = args;
  const at = ["git_init", "git_clone"].includes(tool) ? {} : { repo_path: join(folder, "repo") };
  const placed =
    typeof path === "string" && NEW_DIRECTORY_TOOLS.has(tool) ? { path: join(folder, path) } : {};
  const from = tool === "git_clone" ? { url } : {};
  const call = fakeCall({ agrees: true });
  const text = await callTool(over, tool, { ...args, ...at, ...placed, ...from }, call).then(
    ({ data, text: said }) =>
      JSON.stringify([{ ...data, notes: undefined }, Object.keys(data).length > 0 ? "" : said]),
    (error: Error & { code?: string }) => `error ${error.code ?? error.stack}`,
  );
  return [text, ...call.questions]
    .join("\n")
    .replaceAll(url, "<remote>")
    .replaceAll(folder, "<folder>")
    .replaceAll(/\b[0-9a-f]{7,64}\b/g, "<id>");
}

/** The current state: trees, index, branches, files, and the upstream's refs. Reading it runs nothing. */
function stateOf(folder: string, withUpstream: boolean): string[] {
  const root = join(folder, "repo");
  const plain = (...args: string[]) =>
    git(
      root,
      "--no-optional-locks",
      "-c",
      "core.fsmonitor=false",
      "-c",
      "core.hooksPath=/dev/null",
      ...args,
    );
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && !`${entry.parentPath}/`.includes("/.git/") && entry.name !== ".git",
    )
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path.slice(folder.length)} ${createHash("sha1").update(readFileSync(path)).digest("hex")}`;
    });
  return [
    plain("rev-parse", "HEAD^{tree}"),
    plain("ls-files", "-s"),
    plain("for-each-ref", "--format=%(refname)"),
    ...(withUpstream
      ? [
          plain("for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes"),
          git(join(`${folder}-upstream`, "origin.git"), "for-each-ref"),
        ]
      : []),
    ...files.sort(),
  ];
}

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { tools } from "../src/tools/index.ts";
import {
  type Arguments,
  callTool,
  copyDirectory,
  git,
  gitOver,
  makeDirty,
  type Scratch,
  sampleRepository,
  scratch,
} from "./fixture.ts";
import { serveGit } from "./http-server.ts";
import { alternate, executable, missingBlob, submodule } from "./traps.ts";
import { CALLS, makeUpstream, ON_CLEAN } from "./world.ts";

/** One call of the matrix. */
export interface ToolCall {
  readonly tool: string;
  readonly args: Arguments;
}

/** The answer of a call, the state after it, and what it executed. */
export interface Outcome {
  readonly answer: string;
  readonly state: readonly string[];
  readonly executed: readonly string[];
}

/** Tools that contact the repository's remote. */
export const REMOTE: ReadonlySet<string> = new Set(
  ["delete", "fetch", "pull", "push", "push_force_with_lease"].map((name) => `git_${name}`),
);
export const isReading = (tool: string) =>
  tools.find(({ name }) => name === tool)?.effect === "read";

/** A call of the tool that works and reaches the traps. */
export const callOf = (tool: string): ToolCall => ({ tool, args: CALLS[tool] ?? {} });
const PARTIAL = { revision: "partial" };
const APP = { path: "src/app.ts" };

/** One call of each tool and, of some, calls of other kinds; the first ones need a missing object. */
export const ALL_CALLS: readonly ToolCall[] = [
  ...tools.map(({ name }) => callOf(name)),
  ...(
    [
      ["git_show", { revision: "partial:gone.txt" }, PARTIAL],
      ["git_diff", { target: "v1.0..partial" }],
      ["git_log", { ...PARTIAL, pickaxe: "x" }],
      ["git_grep", { ...PARTIAL, pattern: "x" }],
      ["git_blame", { ...PARTIAL, path: "gone.txt" }, { ...APP, start_line: 2 }],
      ["git_checkout", { branch_name: "partial" }],
      ["git_restore", { files: ["gone.txt"], source: "partial" }],
      ["git_merge", PARTIAL, { revision: "feature", fast_forward: "never" }],
      ["git_cherry_pick", { commits: ["partial"] }],
      ["git_rebase", { onto: "partial" }, { branch_name: "feature", onto: "main" }],
      ["git_worktree_add", { path: "twin", branch_name: "partial" }],
      ["git_reset_hard", PARTIAL],
      ["git_push", { branch_name: "partial" }, { remote: "ssh" }],
      ["git_log", { format: "stat", max_count: 30 }, { max_count: 50 }],
      ["git_log", { ...APP, lines: "1,3" }, { path: "src/util.ts", lines: "let" }],
      ["git_fetch", { remote: "login" }, { remote: "locked" }, { remote: "ssh" }, { prune: true }],
      ["git_show", { revision: "HEAD:src/app.ts" }, { revision: "HEAD:src" }, { revision: "main" }],
      ["git_branch", { branch_type: "all", contains: "v0.9" }],
      ["git_delete", { kind: "branch", name: "feature", remote: "origin" }],
      ["git_rebase", { onto: "feature", on_conflict: "keep" }],
      ["git_delete", { kind: "tag", name: "v0.9" }, { kind: "stash", name: "stash@{0}" }],
      ["git_delete", { kind: "worktree", name: "linked" }],
      ["git_reset", { revision: "v0.9", mode: "soft" }],
      ["git_stash_apply", { drop: true }],
      // Ids of the changes that makeDirty makes.
      ["git_add", { hunks: ["2e281dc"] }],
      ["git_reset", { hunks: ["f159d8c"] }],
    ] as const
  ).flatMap(([tool, ...all]) => all.map((args) => ({ tool, args }))),
];

const LOGIN = "ada:lovelace";
/** The folder with the repository, and the one with its upstream. */
const SUFFIXES = ["", "-upstream"];
/** Options with which plain git runs nothing of the repository. */
const PLAIN = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "hook.evil.enabled=false"];
const plain = (root: string, ...args: string[]) =>
  git(root, "--no-optional-locks", ...PLAIN.flatMap((pair) => ["-c", pair]), ...args);

/** The environment of the matrix: templates, a folder for copies, and the remotes' servers. */
export interface Matrix {
  readonly place: Scratch;
  /** A fresh repository `repo` in the folder, always under the same name, and its upstream next to the folder. */
  copy(folder: string, dirty: boolean, withUpstream?: boolean): string;
  /**
   * The outcome of each call, each in its own copy; reading tools share one.
   *
   * @param executed what was run since it was asked last
   */
  run(
    folder: string,
    calls: readonly ToolCall[],
    plant: (root: string) => void,
    executed: () => string[],
  ): Promise<Map<string, Outcome>>;
  dispose(): Promise<void>;
}

/**
 * Starts the servers, and sets up a user with credentials for one and an ssh command for another. The repository lacks an
 * object, has a changed submodule, borrows objects from a sibling, and has a remote of each kind.
 */
export async function matrix(): Promise<Matrix> {
  const place = scratch();
  const origin = await serveGit(place.folder);
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
  fs.appendFileSync(
    join(place.home, ".gitconfig"),
    `[credential "${login.url}"]\n\thelper = ${helper}\n[core]\n\tsshCommand = ${ssh}\n`,
  );
  const bases = {
    origin: origin.url,
    login: login.url,
    locked: locked.url,
    ssh: `ssh://127.0.0.1${place.folder}`,
  };
  const pathOf = (folder: string) => `${folder.slice(place.folder.length)}-upstream/origin.git`;

  const copy: Matrix["copy"] = (folder, dirty, withUpstream = true) => {
    replace(folder, template(place, dirty), withUpstream ? SUFFIXES : [""]);
    const root = join(folder, "repo");
    const config = join(root, ".git", "config");
    const text = fs.readFileSync(config, "utf8").replace(/^\[remote "origin"\]\n\turl = .*\n/m, "");
    const remotes = Object.entries(bases).map(
      ([name, url]) => `[remote "${name}"]\n\turl = ${url}${pathOf(folder)}\n`,
    );
    fs.writeFileSync(config, text + remotes.join(""));
    return root;
  };

  const run: Matrix["run"] = async (folder, calls, plant, executed) => {
    const outcomes = new Map<string, Outcome>();
    // Planting takes dozens of processes, so it is done once; the calls get copies.
    const planted = place.path("planted");
    for (const state of ["dirty", "clean"]) {
      plant(copy(folder, state === "dirty"));
      replace(join(planted, state), folder, SUFFIXES);
    }
    const fresh = (dirty: boolean, withUpstream: boolean): void =>
      replace(folder, join(planted, dirty ? "dirty" : "clean"), withUpstream ? SUFFIXES : [""]);
    fresh(true, true);
    const reads = calls.filter(({ tool }) => isReading(tool));
    for (const call of [...reads, ...calls.filter((call) => !reads.includes(call))]) {
      const transfers = REMOTE.has(call.tool) || call.tool === "git_clone";
      if (!reads.includes(call)) fresh(!ON_CLEAN.has(call.tool), transfers);
      if (call.args.kind === "worktree") addLinked(folder);
      const answer = await answerOf(folder, call, bases.origin + pathOf(folder));
      const state = reads.includes(call) ? [] : stateOf(folder, transfers);
      const name = `${call.tool} ${JSON.stringify(call.args)}`;
      outcomes.set(name, { answer, state, executed: executed() });
    }
    return outcomes;
  };

  return {
    place,
    copy,
    run,
    async dispose() {
      for (const server of [origin, login, locked]) await server.close();
      place.dispose();
    },
  };
}

/** Makes the folders (`folder` and a suffix) copies of those of the source. */
function replace(folder: string, source: string, suffixes: readonly string[]): void {
  for (const suffix of suffixes) {
    fs.rmSync(folder + suffix, { recursive: true, force: true });
    copyDirectory(source + suffix, folder + suffix);
  }
}

/** A linked worktree with a change, created without running anything of the repository. */
function addLinked(folder: string): void {
  const add = ["worktree", "add", "--quiet", "--no-checkout", "-b", "linked", "../linked"];
  plain(join(folder, "repo"), ...add);
  plain(join(folder, "linked"), "read-tree", "v0.9^{tree}");
}

/** Signs the last commit, so that there is something to verify. */
function signLast(root: string): void {
  const [head = "", ...message] = git(root, "cat-file", "commit", "HEAD").split("\n\n");
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const file = join(root, ".git", "signed");
  fs.writeFileSync(file, `${head}\n${signature}\n\n${message.join("\n\n")}`);
  const oid = git(root, "hash-object", "-w", "-t", "commit", file).trim();
  git(root, "update-ref", "refs/heads/main", oid);
  git(root, "tag", "-f", "v1.0", oid);
  fs.rmSync(file);
}

function template(place: Scratch, dirty: boolean): string {
  const folder = place.path("templates", dirty ? "dirty" : "clean");
  if (fs.existsSync(folder)) return folder;
  const root = sampleRepository(join(folder, "repo"));
  missingBlob(root);
  submodule(root);
  alternate(root);
  signLast(root);
  makeUpstream(root, join(`${folder}-upstream`, "origin.git"));
  if (dirty) makeDirty(root);
  return folder;
}

/** The answer or the error's code, without what differs between copies: ids, times, paths, notes. */
async function answerOf(folder: string, { tool, args }: ToolCall, url: string): Promise<string> {
  const options = {
    protocols: ["http", "ssh"],
    allowedHosts: ["127.0.0.1"],
    hooks: "off",
  } as const;
  const isNew = tool === "git_init" || tool === "git_clone";
  const path =
    isNew || tool === "git_worktree_add" ? { path: join(folder, String(args.path)) } : {};
  const more = isNew ? {} : { repo_path: join(folder, "repo") };
  const from = tool === "git_clone" ? { url } : {};
  const call = fakeCall({ agrees: true });
  const all = { ...args, ...more, ...path, ...from };
  const text = await callTool(gitOver([folder], options), tool, all, call).then(
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
  const files = fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/\.git(\/|$)/.test(join(entry.parentPath, entry.name)))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const sum = createHash("sha1").update(fs.readFileSync(path)).digest("hex");
      return `${path.slice(folder.length)} ${sum}`;
    });
  const remoteRefs = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/remotes"];
  return [
    plain(root, "rev-parse", "HEAD^{tree}"),
    plain(root, "ls-files", "-s"),
    plain(root, "for-each-ref", "--format=%(refname)"),
    ...(withUpstream ? [plain(root, ...remoteRefs)] : []),
    ...(withUpstream ? [git(join(`${folder}-upstream`, "origin.git"), "for-each-ref")] : []),
    ...files.sort(),
  ];
}

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createPathGuard, DirectoryAllowlist } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import { fakeCall, type RecordedCall } from "@refmcp/testing";
import { afterEach, beforeEach } from "vitest";
import { Git } from "../src/git/open/git.ts";
import type { GitOptions } from "../src/git/open/machine.ts";
import { tools } from "../src/tools/index.ts";
import { type GitServer, type GitServerOptions, serveGit } from "./http-server.ts";

/** An empty test directory with its own home, so that no user's git configuration interferes. */
export interface Scratch {
  /** Real path. */
  readonly folder: string;
  readonly home: string;
  path(...parts: string[]): string;
  dispose(): void;
}

const DATE = "2024-01-15T12:00:00+00:00";

/** Creates a temporary folder, which is the home for git in this process. */
export function scratch(): Scratch {
  const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "refmcp-git-test-")));
  const home = join(base, "home");
  const folder = join(base, "work");
  fs.mkdirSync(home);
  fs.mkdirSync(folder);
  fs.writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  process.env.HOME = home;
  delete process.env.XDG_CONFIG_HOME;
  return {
    folder,
    home,
    path: (...parts) => join(folder, ...parts),
    dispose: () => fs.rmSync(base, { recursive: true, force: true }),
  };
}

/** Plain git, as a person runs it, with fixed dates, to build repositories and compare with. */
export function git(cwd: string, ...args: string[]): string {
  return gitWith(cwd, {}, ...args);
}

export function gitWith(
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): string {
  return execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      LC_ALL: "C",
      GIT_AUTHOR_DATE: DATE,
      GIT_COMMITTER_DATE: DATE,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      ...env,
    },
  });
}

/** Writes a file and the directories above it. */
export function write(root: string, path: string, content: string | Uint8Array): void {
  const file = join(root, path);
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

/** Copies a directory with its times and symlinks. Node.js 20's `cpSync` needs five times the CPU time. */
export function copyDirectory(from: string, to: string): void {
  fs.mkdirSync(to, { recursive: true });
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyDirectory(source, target);
    else if (entry.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(source), target);
    else {
      fs.copyFileSync(source, target);
      const { atime, mtime } = fs.statSync(source);
      fs.utimesSync(target, atime, mtime);
    }
  }
}

/** Writes files and commits them at a date in January 2024. */
export function commitFiles(
  root: string,
  message: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  day = 15,
): string {
  for (const [path, content] of Object.entries(files)) write(root, path, content);
  git(root, "add", "-A");
  const date = `2024-01-${String(day).padStart(2, "0")}T12:00:00+00:00`;
  const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  gitWith(root, dates, "commit", "--quiet", "--allow-empty", "-m", message);
  return git(root, "rev-parse", "HEAD").trim();
}

/** An empty repository. */
export function emptyRepository(root: string, ...args: string[]): string {
  fs.mkdirSync(root, { recursive: true });
  git(root, "init", "--quiet", "--template=", "--initial-branch=main", ...args);
  return root;
}

const LINES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** The sample's `src/app.ts` with some lines replaced. */
function appText(changes: Readonly<Record<string, string>> = {}): string {
  return LINES.map((line) => `${changes[line] ?? line}\n`).join("");
}

/**
 * A small repository with something for every tool: commits, branches that merge and that conflict, tags, a stash, and
 * staged, unstaged and untracked changes. Its attributes name drivers and filters that are not configured.
 */
export function sampleRepository(root: string): string {
  sampleTemplate ??= makeSampleTemplate();
  copyDirectory(sampleTemplate, root);
  // The copies have other inodes than in the index.
  git(root, "update-index", "-q", "--refresh");
  return root;
}

/** Created once for each process: a copy is cheaper than 25 runs of git. */
let sampleTemplate: string | undefined;

function makeSampleTemplate(): string {
  const home = process.env.HOME;
  const place = scratch();
  process.on("exit", place.dispose);
  const root = buildSample(place.path("sample"));
  if (home !== undefined) process.env.HOME = home;
  return root;
}

function buildSample(root: string): string {
  emptyRepository(root);
  const attributes = "*.ts diff=evil merge=evil filter=evil\n*.md filter=a=b\n*.txt filter=piped\n";
  commitFiles(root, "First commit", { "README.md": "# Sample\n", "src/app.ts": appText() }, 1);
  commitFiles(
    root,
    "Add café\n\nWith a body.\n",
    {
      "docs/café.md": "warm\n",
      "src/util.ts": "let x;\n",
      ".gitattributes": attributes,
      ".gitignore": "*.log\n",
    },
    2,
  );
  git(root, "tag", "v0.9");
  git(root, "checkout", "--quiet", "-b", "feature");
  commitFiles(
    root,
    "Feature work",
    { "src/feature.ts": "new\n", "src/app.ts": appText({ ten: "TEN" }) },
    3,
  );
  git(root, "checkout", "--quiet", "-b", "conflicting", "main");
  commitFiles(root, "Other line", { "src/app.ts": appText({ two: "THEIRS" }) }, 4);
  git(root, "checkout", "--quiet", "main");
  commitFiles(root, "Our line", { "src/app.ts": appText({ two: "OURS" }) }, 5);
  git(root, "tag", "-a", "v1.0", "-m", "Version one");
  git(root, "remote", "add", "origin", "https://user:sesame@git.example.org/team/sample.git");
  write(root, "README.md", "# Sample\n\nput aside\n");
  git(root, "stash", "push", "--quiet", "-m", "aside");
  return root;
}

/** Adds staged, unstaged, untracked and ignored files to the sample. */
export function makeDirty(root: string): string {
  write(root, "src/util.ts", "let x = 1;\n");
  git(root, "add", "src/util.ts");
  write(root, "src/app.ts", appText({ two: "OURS", four: "FOUR" }));
  write(root, "notes.txt", "not tracked\n");
  write(root, "build.log", "ignored\n");
  return root;
}

/** A `Git` for some directories, as `open` creates it. */
export function gitOver(directories: readonly string[], options: Partial<GitOptions> = {}): Git {
  const configured = directories.map((path) => ({ path, source: "argument" as const }));
  return new Git({
    guard: createPathGuard(new DirectoryAllowlist({ configured, mode: "off" })),
    env: process.env,
    hooks: "ask",
    filters: "off",
    mayAsk: true,
    protocols: ["https", "ssh"],
    allowedHosts: [],
    ...options,
  });
}

/** The answer of a tool: its data, or its text blocks. */
interface Answered {
  readonly data: Record<string, unknown>;
  readonly text: string;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Calls a tool by its name, as core does: parsed input, checked output. */
export async function callTool(
  over: Git,
  name: string,
  args: Arguments,
  call: RecordedCall = fakeCall({ agrees: true }),
): Promise<Answered> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const run: (input: never, over: Git, call: RecordedCall) => unknown = tool.run;
  const returned = await run(tool.input.parse(args) as never, over, call);
  if (typeof returned === "string") return { data: {}, text: returned };
  if (Array.isArray(returned))
    return { data: {}, text: returned.map((block) => block.text).join("\n") };
  const value = isDataAnswer(returned) ? returned.value : returned;
  const data = { ...tool.output?.strict().parse(value) };
  return { data, text: isDataAnswer(returned) ? (returned.text ?? "") : JSON.stringify(data) };
}

interface Match {
  readonly line: number;
  readonly text: string;
  readonly context?: true;
}

/** The matches of git_grep in one list, each with its path. */
export function matchesIn(data: Answered["data"]): (Match & { path: string })[] {
  const files = data.files as { path: string; matches: Match[] }[];
  return files.flatMap(({ path, matches }) => matches.map((match) => ({ path, ...match })));
}

function isDataAnswer(value: unknown): value is { value: object; text: string | undefined } {
  return typeof value === "object" && value !== null && "value" in value && "links" in value;
}

/** The error of a failed call, to check its kind, code and text. */
export async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const outcome = await work.then(
    () => undefined,
    (error: ToolError) => error,
  );
  if (outcome === undefined) throw new Error("the call did not fail");
  if (outcome.name !== "ToolError") throw outcome;
  return outcome;
}

/** A separate directory for each test of a file that calls `useTestDirectory()`. */
export let place: Scratch;
/** Servers that are closed after the test. */
export const servers: Pick<GitServer, "close">[] = [];

/** Creates the folder before each test of the calling file, and removes it and the servers afterwards. */
export function useTestDirectory(): void {
  beforeEach(() => {
    place = scratch();
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
    place.dispose();
  });
}

/** Options that allow the server on loopback. */
export const LOOPBACK: Partial<GitOptions> = {
  protocols: ["http", "https", "ssh"],
  allowedHosts: ["127.0.0.1"],
};

/** A repository: the server's tools there, plain git, and its files. */
export function at(
  root: string,
  options: Partial<GitOptions> = {},
  allowed: string = place.folder,
) {
  const over = gitOver([allowed], options);
  const call = (name: string, args: object = {}, asked?: RecordedCall) => {
    const where = /_(init|clone)$/.test(name) ? {} : { repo_path: root };
    return callTool(over, name, { ...where, ...args }, asked);
  };
  return {
    root,
    over,
    call,
    /** The code with which the call fails. */
    code: (name: string, args?: object, asked?: RecordedCall) => codeOf(call(name, args, asked)),
    git: (...args: string[]) => git(root, ...args),
    /** The object that a name refers to. */
    id: (name: string) => git(root, "rev-parse", name).trim(),
    commit: (message: string, files: Readonly<Record<string, string | Uint8Array>> = {}) =>
      commitFiles(root, message, files),
    write: (path: string, content: string | Uint8Array) => write(root, path, content),
    read: (path: string) => fs.readFileSync(join(root, path), "utf8"),
  };
}

/** The sample in a new folder for each test of a file, with uncommitted changes unless `clean`. */
export function useSample(kind: "dirty" | "clean") {
  useTestDirectory();
  let current: ReturnType<typeof at> | undefined;
  beforeEach(() => {
    current = at(sampleRepository(place.path("repo")));
    if (kind === "dirty") makeDirty(current.root);
  });
  return () => {
    if (current === undefined) throw new Error("outside a test");
    return { ...current, place };
  };
}

/** The sample behind a real git http server, its URL, and a clone of it, whose origin is the server. */
export async function cloned(options: GitServerOptions = {}) {
  const source = at(sampleRepository(place.path("source")));
  git(place.folder, "clone", "--quiet", "--bare", "source", "served/upstream.git");
  const bare = place.path("served", "upstream.git");
  git(bare, "config", "http.receivepack", "true");
  // Not through the server: it runs in this process, which is blocked here.
  git(place.folder, "clone", "--quiet", bare, "clone");
  const server = await serve("served", options);
  const url = `${server.url}/upstream.git`;
  git(place.path("clone"), "config", "remote.origin.url", url);
  return { ...at(place.path("clone"), LOOPBACK), source, bare: at(bare), server, url };
}

/** A git server for a folder, until the end of the test. */
export async function serve(folder: string, options: GitServerOptions = {}): Promise<GitServer> {
  const server = await serveGit(place.path(folder), options);
  servers.push(server);
  return server;
}

/** Directories `in` (allowed) and `out` (not allowed), each with a repository. */
export function insideAndOutside(options: Partial<GitOptions> = {}) {
  const outside = emptyRepository(place.path("out", "repo"));
  commitFiles(outside, "Secret commit", { "secret.txt": "the secret\n" });
  const root = sampleRepository(place.path("in", "repo"));
  return { ...at(root, options, place.path("in")), outside };
}

/** The code of the error with which the work fails. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return (await failureOf(work)).code;
}

export { world } from "./world.ts";

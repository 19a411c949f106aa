import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, type ConnectOptions, connectStdio } from "@refmcp/testing";
import { afterEach } from "vitest";

/** The built program. */
export const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

export interface Project {
  /** A git repository with one commit of `a.txt`. */
  readonly folder: string;
  /** Nothing of the user's is read or written. */
  readonly env: Readonly<Record<string, string>>;
  path(...parts: string[]): string;
  git(...args: string[]): string;
}

const ends: (() => void | Promise<void>)[] = [];

/** Ends what the tests of a file have started. Called once at the top of the file. */
export function cleanUp(): void {
  afterEach(() => end(ends.splice(0)));
}

async function end(endings: typeof ends): Promise<void> {
  for (const each of endings.reverse()) await each();
}

/** Takes what has been started out of the clean-up after each test. Returns what ends it, for `beforeAll` to return. */
export function keep(): () => Promise<void> {
  const resources = ends.splice(0);
  return () => end(resources);
}

/** A project in a new folder, which is removed after the test. */
export function project(): Project {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "refmcp-all-")));
  ends.push(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "work");
  const home = join(base, "home");
  mkdirSync(folder);
  mkdirSync(home);
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Test\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  const env = { HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home };
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, env: { ...process.env, ...env }, encoding: "utf8" });
  git("init", "--quiet");
  writeFileSync(join(folder, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "First");
  return { folder, env, git, path: (...parts) => join(folder, ...parts) };
}

/** Starts the program in a project and connects a client. */
export async function start(
  { folder, env }: Project,
  options: ConnectOptions = {},
): Promise<Connected> {
  const connected = await connectStdio(BIN, {
    ...options,
    args: options.args ?? [folder],
    env: { ...env, ...options.env },
  });
  ends.push(() => connected.close());
  return connected;
}

/** The environments of the processes that the program has started. Linux only. */
export function environmentsBelow({ pid }: Pick<Connected, "pid">): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const pids = children === "" ? [] : children.split(" ");
  return pids.map((child) => readFileSync(`/proc/${child}/environ`, "utf8"));
}

/** The text of an answer. */
export function textOf(answer: { readonly content?: unknown }): string {
  const blocks: readonly { readonly text?: string }[] = Array.isArray(answer.content)
    ? answer.content
    : [];
  return blocks.map(({ text = "" }) => text).join("\n");
}

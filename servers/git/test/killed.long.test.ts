import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { connectStdio } from "@refmcp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import { type Arguments, callTool, git, gitOver, scratch } from "./fixture.ts";
import { executable } from "./traps.ts";
import { ALL_TOOLS, disposeTemplate, world } from "./world.ts";

afterAll(disposeTemplate);

/** The server is killed while another command than these runs. */
const READS =
  "blame cat-file check-ignore check-ref-format config diff diff-tree for-each-ref grep log ls-files ls-tree merge-base range-diff rev-list rev-parse show status var";
const CALLS: readonly { readonly name: string; readonly args?: Arguments }[] = [
  ...tools.filter(({ effect, name }) => effect !== "read" && name !== "git_commit"),
  // With files, it stages them first, and may be killed between the two.
  { name: "git_commit", args: { files: undefined } },
  { name: "git_worktree_add", args: { path: "twin", branch_name: "fresh" } },
  { name: "git_rebase", args: { apply: "the plan of a preview" } },
  { name: "git_merge", args: { repo_path: "tidy", revision: "conflicting", on_conflict: "keep" } },
];

/** The contents of all files, and the objects that are not only left over. */
function keptIn(root: string): Set<string> {
  const list = ["--objects", "--all", "--reflog", "--indexed-objects", "--missing=allow-any"];
  const found = new Set(git(root, "rev-list", ...list).match(/^[0-9a-f]{40}/gm));
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.parentPath.includes("/.git")) continue;
    const content = readFileSync(join(entry.parentPath, entry.name));
    found.add(createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex"));
  }
  return found;
}

/** What a user sees; without recovery refs and remote-tracking branches, which come first. */
function stateOf(root: string): string {
  return [
    git(root, "rev-parse", "HEAD^{tree}"),
    git(root, "status", "--porcelain", "--branch"),
    git(root, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"),
    git(root, "for-each-ref", "--format=%(tree)", "refs/stash"),
  ].join("");
}

/** Command lines of processes that work in a folder, and the locks that they hold there. */
function remains(folder: string): string[] {
  const processes = readdirSync("/proc").flatMap((pid) => {
    try {
      const isHere = /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      return isHere ? [readFileSync(`/proc/${pid}/cmdline`, "utf8")] : [];
    } catch {
      return [];
    }
  });
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return [...processes, ...names.filter((name) => name.endsWith(".lock"))];
}

/** Kills the server while its command number `at` runs that changes something; returns the state before and after. */
async function killedAt(at: number, name: string, args?: Arguments) {
  const made = await world();
  const place = scratch();
  try {
    const [folder = ""] = made.args;
    const call: Record<string, unknown> = { ...made.calls[name], ...args };
    const root = join(folder, String(call.repo_path ?? "repo"));
    if (args?.apply !== undefined) {
      const preview = { ...made.calls[name], repo_path: root };
      const { data } = await callTool(gitOver([folder]), name, preview);
      Object.assign(call, { steps: undefined, apply: data.plan });
    }
    const program = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const count = place.path("count");
    mkdirSync(place.path("bin"));
    executable(
      place.path("bin", "git"),
      `case " ${READS} " in *" $1 "*) exec ${program} "$@";; esac
echo "$*" >> ${count}
if [ $(wc -l < ${count}) = ${at} ]; then touch ${count}.killed; kill -9 $PPID; fi
exec ${program} "$@"`,
    );
    const before = { state: stateOf(root), kept: keptIn(root) };
    const server = await connectStdio(join(import.meta.dirname, "../dist/bin.js"), {
      args: [...made.args, ...ALL_TOOLS, "--confirm", "never"],
      env: { ...made.env, PATH: `${place.path("bin")}${delimiter}${process.env.PATH}` },
    });
    const result = await server.client.callTool({ name, arguments: call }).catch(() => undefined);
    expect(result?.isError).toBeFalsy();
    await server.close().catch(() => undefined);
    await expect.poll(() => remains(folder)).toEqual([]);
    const isKilled = result === undefined;
    expect(isKilled).toBe(existsSync(`${count}.killed`));
    git(root, "fsck", "--connectivity-only", "--no-dangling");
    const kept = keptIn(root);
    const lost = [...before.kept].filter((oid) => !kept.has(oid));
    return { isKilled, lost, before: before.state, after: stateOf(root) };
  } finally {
    await made.dispose?.();
    place.dispose();
  }
}

// Elsewhere there is no /proc to look for processes in.
describe.runIf(process.platform === "linux")("a server that is killed at any step of", () => {
  it.each(CALLS)("$name loses nothing and leaves no lock or process", async ({ name, args }) => {
    const rounds: Awaited<ReturnType<typeof killedAt>>[] = [];
    while (rounds.at(-1)?.isKilled !== false)
      rounds.push(await killedAt(rounds.length + 1, name, args));
    const complete = rounds.at(-1);
    expect(rounds.length).toBeGreaterThan(1);
    for (const [index, { lost, before, after }] of rounds.entries()) {
      expect(lost, `step ${index + 1}`).toEqual([]);
      expect([before, complete?.after], `step ${index + 1}`).toContain(after);
    }
  });
});

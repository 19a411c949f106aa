import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/core/testing";
import { afterAll, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import { type Arguments, callTool, git, gitOver, makeDirty, sampleRepository, scratch } from "./fixture.ts";
import { canary } from "./traps.ts";
import { VECTORS, type Vector } from "./vectors.ts";

/** Tools that want a clean working tree; all others get a dirty one. */
const ON_CLEAN: ReadonlySet<string> = new Set([
  "git_checkout",
  "git_merge",
  "git_cherry_pick",
  "git_revert",
  "git_rebase",
  "git_pull",
]);

/** Arguments under which each tool does its work and meets the traps. */
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
  git_init: { path: "new" },
  git_clone: { url: "http://127.0.0.1:1/x.git", path: "cloned" },
  git_reset_hard: { revision: "v0.9" },
  git_clean: { ignored: true },
  git_rebase: { onto: "feature" },
  git_delete_branch: { branch_name: "conflicting" },
};

/** A remote that the repository itself leads elsewhere may be refused instead. */
const REMOTE: ReadonlySet<string> = new Set([
  "git_fetch",
  "git_pull",
  "git_push",
  "git_push_force_with_lease",
]);
const REFUSED = /^error (unsafe_config|protocol_not_allowed|host_not_allowed)/;

const place = scratch();
afterAll(() => place.dispose());

/** Puts a signature on the last commit, so that there is something to verify. */
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

function template(name: string, base: Vector["base"], dirty: boolean): string {
  const root = place.path("templates", `${name}-${dirty ? "dirty" : "clean"}`);
  if (existsSync(root)) return root;
  sampleRepository(root);
  git(root, "config", "remote.origin.url", "http://127.0.0.1:1/x.git");
  git(root, "update-ref", "refs/remotes/origin/main", "v0.9");
  base?.(root);
  signLast(root);
  return dirty ? makeDirty(root) : root;
}

/** A fresh copy of a template in a folder of its own, always under the same name. */
function copyOf(source: string, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  const root = join(folder, "repo");
  cpSync(source, root, { recursive: true, preserveTimestamps: true });
  return root;
}

/** The answer or the error's code, without what differs from copy to copy: ids, times, paths, notes. */
async function outcome(folder: string, tool: string): Promise<string> {
  const over = gitOver([folder], { protocols: ["http"], allowedHosts: ["127.0.0.1"], hooks: "off" });
  const args = ARGUMENTS[tool] ?? {};
  const { path } = args;
  const at = ["git_init", "git_clone"].includes(tool) ? {} : { repo_path: join(folder, "repo") };
  const placed = typeof path === "string" && tool !== "git_blame" ? { path: join(folder, path) } : {};
  const call = fakeCall({ agrees: true });
  const text = await callTool(over, tool, { ...args, ...at, ...placed }, call).then(
    ({ data, text: said }) =>
      JSON.stringify([{ ...data, notes: undefined }, Object.keys(data).length > 0 ? "" : said]),
    (error: Error & { code?: string }) => `error ${error.code ?? error.stack}`,
  );
  return [text, ...call.questions]
    .join("\n")
    .replaceAll(folder, "<folder>")
    .replaceAll(/\d{8}T\d{6}Z-([a-z-]+)-[0-9a-f]{6}/g, "<time>-$1")
    .replaceAll(/\b[0-9a-f]{7,64}\b/g, "<id>");
}

/** What is in the repository now: trees, index, branches and files. None of these looks runs anything. */
function stateOf(folder: string): string[] {
  const root = join(folder, "repo");
  const plain = (...args: string[]) =>
    git(root, "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ...args);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !`${entry.parentPath}/`.includes("/.git/") && entry.name !== ".git")
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path.slice(folder.length)} ${createHash("sha1").update(readFileSync(path)).digest("hex")}`;
    });
  return [
    plain("rev-parse", "HEAD^{tree}"),
    plain("ls-files", "-s"),
    plain("for-each-ref", "--format=%(refname)").replaceAll(/recovery\/.*/g, "recovery"),
    ...files.sort(),
  ];
}

interface Found {
  readonly outcome: string;
  readonly state: readonly string[];
}

const writing = tools.filter(({ effect }) => effect !== "read").map(({ name }) => name);
const reading = tools.filter(({ effect }) => effect === "read").map(({ name }) => name);

/** What every tool answers and leaves in a copy of its own; reading tools share one, since they leave it as it is. */
async function findings(
  folder: string,
  base: Vector["base"],
  plant: (root: string) => void,
  check: (tool: string) => void,
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const kind = base?.name ?? "plain";
  plant(copyOf(template(kind, base, true), folder));
  for (const tool of reading) {
    found.set(tool, { outcome: await outcome(folder, tool), state: [] });
    check(tool);
  }
  for (const tool of writing) {
    plant(copyOf(template(kind, base, !ON_CLEAN.has(tool)), folder));
    const got = await outcome(folder, tool);
    check(tool);
    found.set(tool, { outcome: got, state: stateOf(folder) });
  }
  return found;
}

const controls = new Map<string, Promise<Map<string, Found>>>();

/** The same in the harmless twin. */
function control(base: Vector["base"]): Promise<Map<string, Found>> {
  const kind = base?.name ?? "plain";
  const known = controls.get(kind);
  if (known !== undefined) return known;
  const found = findings(
    place.path("control", kind),
    base,
    () => undefined,
    () => undefined,
  );
  controls.set(kind, found);
  return found;
}

describe("a hostile repository", { timeout: 300_000 }, () => {
  it("has a twin in which every tool does real work, so that no error hides an execution", async () => {
    const failed = [...(await control(undefined))]
      .filter(([, { outcome: got }]) => got.startsWith("error"))
      .map(([name, { outcome: got }]) => `${name} ${got.split("\n", 1)[0]}`);
    // Nothing listens at the remote's address: these get as far as their connection.
    expect(failed).toEqual([
      "git_clone error remote_unreachable",
      "git_fetch error remote_unreachable",
      "git_pull error remote_unreachable",
      "git_push error remote_unreachable",
      "git_push_force_with_lease error remote_unreachable",
    ]);
  });

  it.each(VECTORS)("executes nothing on any tool, and every answer is right: $name", async (vector) => {
    const folder = place.path(vector.name.replaceAll(/\W/g, "-"));
    const { program, log } = canary(join(folder, "evil"));
    const plant = (root: string): void => vector.plant(root, program);

    // The trap works: plain git falls into it.
    const victim = copyOf(template(vector.base?.name ?? "plain", vector.base, false), join(folder, "victim"));
    plant(victim);
    for (const command of vector.springs) {
      try {
        git(victim, ...command);
      } catch {
        // It may well fail; what counts is what it ran.
      }
    }
    expect(existsSync(log), `${vector.name} is no trap`).toBe(true);
    rmSync(log);

    const right = await control(vector.base);
    const got = await findings(join(folder, "hostile"), vector.base, plant, (tool) => {
      expect(existsSync(log) ? `${tool}: ${readFileSync(log, "utf8")}` : "").toBe("");
    });
    for (const [tool, { outcome: answer, state }] of got) {
      const expected = right.get(tool);
      if (answer !== expected?.outcome && REMOTE.has(tool)) expect(answer, tool).toMatch(REFUSED);
      else expect(answer, tool).toBe(expected?.outcome);
      expect(state, tool).toEqual(expected?.state);
    }
  });
});

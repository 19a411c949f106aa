import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { randomOf } from "@refmcp/testing";
import { afterAll, describe, expect, it } from "vitest";
import { tools } from "../src/tools/index.ts";
import {
  callTool,
  commitFiles,
  emptyRepository,
  gitOver,
  makeDirty,
  sampleRepository,
  scratch,
} from "./fixture.ts";
import { callOf, REMOTE } from "./matrix.ts";
import { canary, configText, executable } from "./traps.ts";

/** How many git directories are generated, and how many changes each has. */
const REPOSITORIES = 40;
const MAX_CHANGES = 3;

/** Any name that reaches a file outside: as git reads it, and in forms that others read differently. */
type Leads = (outside: string) => Buffer;
const TEXTS: readonly Leads[] = [
  (outside) => Buffer.from(`${outside}\n`),
  (outside) => Buffer.from(outside),
  (outside) => Buffer.from(`${outside}\r\n`),
  (outside) => Buffer.from(`${outside}\0junk\n`),
  (outside) => Buffer.from(`"${outside}"\n`),
  (outside) => Buffer.from(`"\\057${outside.slice(1)}"\n`),
  (outside) => Buffer.from(`# comment\n${outside}\n`),
  (outside) => Buffer.from(`../../../out/repo/${outside.split("/out/repo/")[1] ?? ""}\n`),
  (outside) => Buffer.concat([Buffer.from(outside), Buffer.from([0xff, 0x0a])]),
];

/** Files of a git directory that a link, a pipe or other text can replace. */
const FILES = `HEAD config config.worktree index packed-refs commondir gitdir shallow description
  refs/heads/main refs/stash logs/HEAD info/exclude info/attributes info/grafts info/sparse-checkout
  objects/info/alternates objects/info/packs objects/pack MERGE_HEAD MERGE_MSG ORIG_HEAD
  FETCH_HEAD rebase-merge/git-rebase-todo sequencer/todo worktrees/w/gitdir worktrees/w/HEAD`
  .split(/\s+/)
  .filter(Boolean);

type Random = ReturnType<typeof randomOf>;
type Change = (root: string, outside: string, random: Random) => void;

const put = (root: string, name: string, make: (file: string) => void): void => {
  const file = join(root, ".git", name);
  fs.mkdirSync(join(file, ".."), { recursive: true });
  fs.rmSync(file, { recursive: true, force: true });
  make(file);
};
const pick = <Item>(items: readonly Item[], random: Random): Item =>
  items[random(items.length)] as Item;

const CHANGES: Readonly<Record<string, Change>> = {
  link: (root, outside, random) => {
    const name = pick(FILES, random);
    put(root, name, (file) => fs.symlinkSync(join(outside, ".git", name), file));
  },
  secret: (root, outside, random) =>
    put(root, pick(FILES, random), (file) => fs.symlinkSync(join(outside, "secret.txt"), file)),
  pipe: (root, _, random) =>
    put(root, pick(FILES, random), (file) => execFileSync("mkfifo", [file])),
  commondir: (root, outside, random) =>
    put(root, "commondir", (file) =>
      fs.writeFileSync(file, pick(TEXTS, random)(`${outside}/.git`)),
    ),
  alternates: (root, outside, random) =>
    put(root, "objects/info/alternates", (file) =>
      fs.writeFileSync(file, pick(TEXTS, random)(`${outside}/.git/objects`)),
    ),
  gitdir: (root, outside, random) => {
    fs.renameSync(join(root, ".git"), join(root, "g"));
    const target = random(2) === 0 ? "g" : `${outside}/.git`;
    const text = pick(TEXTS, random)(target);
    fs.writeFileSync(join(root, ".git"), Buffer.concat([Buffer.from("gitdir: "), text]));
  },
  include: (root, outside, random) => {
    const name = pick(["include", 'includeIf "onbranch:**"', 'includeIf "gitdir:**"'], random);
    const files = ["secret.txt", ".git/config"].map((file) => join(outside, file));
    const path = pick([...files, "../../../out/repo/.git/config"], random);
    fs.appendFileSync(join(root, ".git", "config"), `[${name}]\n\tpath = ${path}\n`);
  },
  settings: (root, outside, random) => {
    const keys = ["core.worktree", "core.excludesFile", "core.attributesFile", "core.hooksPath"];
    const others = ["mailmap.file", "blame.ignoreRevsFile", "commit.template", "diff.orderFile"];
    const key = pick([...keys, ...others], random);
    const value = /worktree|hooks/.test(key) ? outside : `${outside}/secret.txt`;
    fs.appendFileSync(join(root, ".git", "config"), configText([[key, value]]));
  },
  worktree: (root, outside) => {
    put(root, "worktrees/w/HEAD", (file) => fs.writeFileSync(file, "ref: refs/heads/main\n"));
    put(root, "worktrees/w/gitdir", (file) => fs.writeFileSync(file, `${root}-w/.git\n`));
    put(root, "worktrees/w/commondir", (file) => fs.writeFileSync(file, `${outside}/.git\n`));
  },
  tree: (root, outside) => {
    fs.rmSync(join(root, "src"), { recursive: true, force: true });
    fs.symlinkSync(outside, join(root, "src"));
  },
};

/** Files of the repositories that git has opened: many are refused before it runs. */
let traced = 0;
const isTraced = process.platform === "linux" && fs.existsSync("/usr/bin/strace");

// git itself would open files outside in most of these repositories.
describe.runIf(isTraced)("a generated git directory", () => {
  afterAll(() => expect(traced).toBeGreaterThan(0));

  it.each(Array.from({ length: REPOSITORIES }, (_, seed) => seed))(
    "leads no tool outside, and executes nothing: %i",
    async (seed) => {
      const place = scratch();
      try {
        const random = randomOf(seed);
        const outside = emptyRepository(place.path("out", "repo"));
        commitFiles(outside, "Secret commit", { "secret.txt": "the secret\n" });
        const trap = canary(place.path("out", "evil"));
        const root = makeDirty(sampleRepository(place.path("in", "repo")));
        const names = Array.from({ length: 1 + random(MAX_CHANGES) }, () =>
          pick(Object.keys(CHANGES), random),
        );
        for (const name of names)
          if (fs.existsSync(join(root, ".git", "config"))) CHANGES[name]?.(root, outside, random);
        const log = place.path("log");
        fs.mkdirSync(log);
        const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
        executable(
          place.path("bin", "git"),
          `exec strace -f -qq -y -e trace=open,openat,execve -o "${log}/$$" ${real} "$@"`,
        );
        const env = { ...process.env, PATH: `${place.path("bin")}:${process.env.PATH}` };
        const over = gitOver([place.path("in")], { env, hooks: "off" });
        for (const { name } of tools) {
          if (REMOTE.has(name) || name === "git_init" || name === "git_clone") continue;
          const args = { ...callOf(name).args, repo_path: root };
          const placed = "path" in args && name === "git_worktree_add" ? { path: `${root}-x` } : {};
          await callTool(over, name, { ...args, ...placed }).catch((error: unknown) => {
            if (!(error instanceof ToolError)) throw error;
          });
        }
        const traces = fs.readdirSync(log).map((file) => fs.readFileSync(join(log, file), "utf8"));
        const opened = traces
          .join("\n")
          .split("\n")
          .flatMap((line) => /= \d+<([^>]*)>$/.exec(line)?.[1] ?? []);
        traced += opened.filter((path) => path.startsWith(root)).length;
        const strange = opened.filter((path) => path.startsWith(place.path("out")));
        expect(strange, names.join(" + ")).toEqual([]);
        expect(fs.existsSync(trap.log)).toBe(false);
      } finally {
        place.dispose();
      }
    },
    120_000,
  );
});

import { execFileSync } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { someOf } from "../../../../../vitest.long.ts";
import { makeTree, type Tree } from "../../../test/tree.ts";
import { walk } from "../tree/walk.ts";
import { ignoreRules } from "./ignore.ts";

/** The files that are not hidden below `from`. */
async function visibleFiles(tree: Tree, from = tree.root, extra: string[] = []): Promise<string[]> {
  const root = await tree.guard.openDirectory(from);
  onTestFinished(() => root.close());
  const ignore = await ignoreRules(tree.guard, root, extra);
  const paths: string[] = [];
  await walk(tree.guard, root, { ignore }, ({ path, type }) => {
    if (type === "file") paths.push(path);
    return undefined;
  });
  return paths.sort();
}

function byGit(tree: Tree): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "core.quotePath=false", "-c", "core.excludesFile=", ...args], {
      cwd: tree.root,
      encoding: "utf8",
      env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: tree.root },
    });
  git("init", "--quiet");
  return git("ls-files", "-z", "--others", "--exclude-standard").split("\0").filter(Boolean).sort();
}

describe(".gitignore rules match those of git", () => {
  const names = [
    "a",
    "a.log",
    "keep.log",
    "build",
    ".env",
    "x y",
    "#hash",
    "!bang",
    "a b ",
    "[x]",
    "x",
    "aXXb",
    "日本.txt",
    "foo\\bar",
  ];
  const files = Object.fromEntries(
    ["", "dir/", "dir/sub/", "dir/sub/deep/", "foo/", "foo/bar/", "a-b/", "out/a/b/c/"].flatMap(
      (prefix) =>
        names.map((name) => [`${prefix}${prefix === "" ? name : `f-${name}`}`, ""] as const),
    ),
  );
  const more = Object.fromEntries(
    ["dir/build/x", "foo/bar/qux/z", "foo/a/b/bar/v", "tmp/one", "p/q/r/s.md"].map((path) => [
      path,
      "",
    ]),
  );
  const rules = [
    "*.log\n!keep.log\n",
    "build/\n",
    "/build\n",
    "tmp\n!tmp\n",
    "foo/**/bar\n",
    "foo/**\n",
    "/foo/*\n!/foo/bar\n",
    "foo/*\n!foo/bar/\nfoo/bar/*\n!foo/bar/baz/\n",
    "a/**/c\n",
    "out/**/c/\n",
    "a[A-Z]*b\n",
    "[!a]*\n!*/\n!.gitignore\n",
    "a**b\n",
    "dir/**b\n",
    "***\n!dir/\n",
    "\\#hash\n\\!bang\n",
    "x\\ y\n",
    "a b\\ \n",
    "\\[x\\]\n[[]x]\n",
    "[x\n",
    "foo\\\\bar\n",
    "trailing\\\n",
    "f-*\n!f-a*\n",
    "*\n!*.log\n!*/\n",
    "/*/f-x\n",
    "/\n//\n\n   \n",
    "a-b/\r\n*.log\r\n",
    "\uFEFF*.log\n",
    "[[:upper:]]*\n",
    ".*\n!.gitignore\n",
    "{a,b}.log\n",
    "/p/**/s.md\n",
  ];
  it.each(someOf(3, rules))("%j", async (rule) => {
    const tree = await makeTree({ ...files, ...more, ".gitignore": rule });
    const expected = byGit(tree);
    expect(await visibleFiles(tree)).toEqual(expected);
  });

  it("in nested files, deeper ones first", async () => {
    const tree = await makeTree({
      ...files,
      ".gitignore": "*.log\n/dir/sub/f-a\n",
      "dir/.gitignore": "!f-a.log\nsub/deep\n",
      "dir/sub/.gitignore": "f-x\n!/f-b.log\n*.log\n!keep*\n",
    });
    const expected = byGit(tree);
    expect(await visibleFiles(tree)).toEqual(expected);
  });

  it("in a directory that an inner file shows again", async () => {
    const tree = await makeTree({
      ...files,
      ".gitignore": "deep/\nbar/\n",
      "dir/.gitignore": "!deep/\n",
    });
    const expected = byGit(tree);
    expect(expected).toContain("dir/sub/deep/f-a");
    expect(await visibleFiles(tree)).toEqual(expected);
  });
});

describe("ignore rules", () => {
  it("gives .ignore precedence over .gitignore, and both over the option's patterns", async () => {
    const tree = await makeTree({
      ".gitignore": "*.log\n",
      ".ignore": "!b.log\n*.tmp\n",
      "dir/a.log": "",
      "dir/b.log": "",
      "dir/d.tmp": "",
      "dir/e.bak": "",
      "dir/sub/.gitignore": "!f.bak\n",
      "dir/sub/f.bak": "",
    });
    const all = await visibleFiles(tree, tree.root, ["*.bak"]);
    expect(all.filter((path) => !/ignore$/.test(path))).toEqual(["dir/b.log", "dir/sub/f.bak"]);
  });

  it("applies rules from parent directories, up to the repository's root", async () => {
    const tree = await makeTree({
      ".gitignore": "never\n",
      "repo/.git/HEAD": "",
      "repo/.gitignore":
        "*.log\n/src/gen/\nsrc/*/skip.ts\n/other/x.ts\n**/lib/*.js\n!keep.log\nsrc/lib/\nvendor\n",
      "repo/src/.ignore": "deep.txt\n",
      "repo/src/lib/a.log": "",
      "repo/src/lib/a.js": "",
      "repo/src/lib/keep.log": "",
      "repo/src/lib/skip.ts": "",
      "repo/src/lib/x.ts": "",
      "repo/src/lib/never": "",
      "repo/src/lib/deep.txt": "",
      "repo/src/lib/sub/skip.ts": "",
      "repo/src/gen/x": "",
      "repo/src/other/x.ts": "",
      "repo/src/vendor/in/a.ts": "",
    });
    // A path given by the caller is shown even if a rule matches it; the rules still apply to its contents.
    expect(await visibleFiles(tree, tree.at("repo/src/lib"))).toEqual([
      "keep.log",
      "never",
      "sub/skip.ts",
      "x.ts",
    ]);
    expect(await visibleFiles(tree, tree.at("repo/src/vendor/in"))).toEqual(["a.ts"]);
    expect(await visibleFiles(tree, tree.at("repo/src"))).toEqual([".ignore", "other/x.ts"]);
  });

  it("applies a rule that hides the start too if a later one shows it again", async () => {
    const tree = await makeTree({ ".gitignore": "/?/?/**\n!?\n", "a/b/c/long": "", "a/b/c/d": "" });
    expect(byGit(tree)).toEqual([".gitignore", "a/b/c/d"]);
    expect(await visibleFiles(tree, tree.at("a/b/c"))).toEqual(["d"]);
  });

  it("reads no rules above the allowed directory, through symlinks, or from FIFOs and huge files", async () => {
    const tree = await makeTree({
      "../.gitignore": "*\n",
      "outside/rules": "a\n",
      ".gitignore": { link: "../outside/rules" },
      "sub/.gitignore": `b\n${"#".repeat(1024 * 1024)}`,
      a: "",
      "sub/b": "",
    });
    execFileSync("mkfifo", [tree.at(".ignore")]);
    expect(await visibleFiles(tree)).toEqual(["a", "sub/.gitignore", "sub/b"]);
  });

  it("is not slowed down by a repository's pattern bombs", async () => {
    const bombs = [`${"**/a/".repeat(200)}b`, `${"*a".repeat(200)}b`, `${"a/**/".repeat(200)}c`];
    const name = "a".repeat(250);
    const path = `${"a/".repeat(100)}${name}`;
    const tree = await makeTree({ ".gitignore": bombs.join("\n"), [path]: "" });
    expect(await visibleFiles(tree)).toEqual([".gitignore", path]);
  });
});

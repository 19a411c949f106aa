import { spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import type { Git } from "../src/git/open/git.ts";
import { type Listing, listingOf } from "../src/git/open/refs-listing.ts";
import {
  callTool,
  codeOf,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  gitWith,
  isRunning,
  makeDirty,
  sampleRepository,
  write,
} from "./fixture.ts";
import { logged, messages, REAL, settle } from "./processes.ts";
import { place, useTestDirectory } from "./upstream.ts";

// What outlives a call: the `git cat-file` of a repository, its configuration, and its refs.
useTestDirectory();

describe("a call starts no more processes than needed", () => {
  it.each([
    ["git_log", {}, 1],
    ["git_log", { revision: "feature", max_count: 2 }, 1],
    ["git_log", { path: "src/app.ts" }, 1],
    ["git_log", { author: "Test" }, 1],
    ["git_branch", {}, 0],
    ["git_branch", { branch_type: "all", contains: "v0.9" }, 0],
    ["git_list_refs", { kind: "tags" }, 0],
    ["git_show", { revision: "HEAD:src/app.ts" }, 0],
    ["git_show", { revision: "v0.9:docs/café.md" }, 0],
    ["git_show", { revision: "HEAD" }, 2],
    ["git_show", { revision: "HEAD:src" }, 0],
    ["git_show", { revision: "v1.0" }, 2],
    ["git_diff", { target: "v0.9..v1.0" }, 1],
    ["git_blame", { path: "src/app.ts" }, 1],
    ["git_status", {}, 1],
  ] as const)("%s %o: %i", async (tool, args, count) => {
    const root = makeDirty(sampleRepository(place.path("repo")));
    const { over, processes } = logged(root);
    await settle();
    const first = await callTool(over, tool, args);
    const before = processes().length;
    expect(before).toBeGreaterThan(count);
    expect((await callTool(over, tool, args)).text).toBe(first.text);
    expect(processes().slice(before)).toHaveLength(count);
  });
});

describe("a change between two calls is seen", () => {
  it("of a ref's file in place, with the same size and time", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over } = logged(root);
    await settle();
    const file = join(root, ".git", "refs", "heads", "feature");
    const old = git(root, "rev-parse", "v0.9");
    expect((await callTool(over, "git_branch", {})).text).not.toContain(old.slice(0, 10));
    const { atime, mtime } = statSync(file);
    writeFileSync(file, old);
    utimesSync(file, atime, mtime);
    await settle();
    expect((await callTool(over, "git_branch", {})).text).toContain(old.slice(0, 10));
  });

  it("of refs in a tree without end, which is not kept", async () => {
    const root = sampleRepository(place.path("repo"));
    const { location } = await gitOver([root]).open(root, new AbortController().signal);
    await settle();
    let runs = 0;
    const listing = async () => {
      const output = await listingOf(known, location, "", "[]", async () =>
        Buffer.from(`${++runs}`),
      );
      return output.toString();
    };
    const known = new Map<string, Listing>();
    expect([await listing(), await listing()]).toEqual(["1", "1"]);
    for (const name of ["a", "b", "c"])
      symlinkSync("..", join(root, ".git", "refs", "heads", name));
    await settle();
    expect([await listing(), await listing()]).toEqual(["2", "3"]);
  });

  it("of a name that becomes ambiguous", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over, kept } = logged(root);
    await callTool(over, "git_show", { revision: "feature:src/app.ts" });
    git(root, "tag", "feature", "v0.9");
    const shown = callTool(over, "git_show", { revision: "feature:src/app.ts" });
    expect(await codeOf(shown)).toBe("ambiguous_name");
    // The one that printed the warning.
    expect(kept()).toHaveLength(1);
  });

  it("of the index, which a kept process would not read again", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over } = logged(root);
    expect((await callTool(over, "git_show", { revision: ":README.md" })).text).toContain(
      "# Sample",
    );
    write(root, "README.md", "other\n");
    git(root, "add", "README.md");
    expect((await callTool(over, "git_show", { revision: ":README.md" })).text).toContain("other");
  });

  it("of the whole repository at the same path", async () => {
    const root = sampleRepository(place.path("repo"));
    git(root, "gc", "--quiet");
    const { over } = logged(root);
    expect(await messages(over)).toHaveLength(3);
    const [id = ""] = git(root, "rev-parse", "HEAD").split("\n");
    rmSync(root, { recursive: true });
    commitFiles(emptyRepository(root), "Another", { "a.txt": "a\n" });
    expect(await messages(over)).toEqual(["Another"]);
    expect(await codeOf(callTool(over, "git_show", { revision: id }))).toBe("bad_revision");
  });

  it("of a history that becomes shallow, or gets grafts", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over } = logged(root);
    expect(await messages(over)).toHaveLength(3);
    const [tip = "", parent = ""] = git(root, "rev-parse", "HEAD", "HEAD~1").split("\n");
    writeFileSync(join(root, ".git", "shallow"), `${parent}\n`);
    expect(await messages(over)).toEqual(["Our line", "Add café\n\nWith a body."]);
    expect(await codeOf(callTool(over, "git_show", { revision: "HEAD~2" }))).toBe("bad_revision");
    rmSync(join(root, ".git", "shallow"));
    mkdirSync(join(root, ".git", "info"), { recursive: true });
    writeFileSync(join(root, ".git", "info", "grafts"), `${tip}\n`);
    expect(await messages(over)).toEqual(["Our line"]);
    expect(await codeOf(callTool(over, "git_show", { revision: "HEAD~1" }))).toBe("bad_revision");
  });
});

describe("answers of a kept process are not mixed up", () => {
  const names = Array.from({ length: 40 }, (_, index) => `file-${index}.txt`);

  function numbered(): string {
    const root = emptyRepository(place.path("repo"));
    commitFiles(
      root,
      "Files",
      Object.fromEntries(names.map((name) => [name, `this is ${name}\n`.repeat(500)])),
    );
    return root;
  }
  const shown = (over: Git, name: string) =>
    callTool(over, "git_show", { revision: `HEAD:${name}`, end_line: 1 }).then(
      ({ text }) => text.split("\n")[1],
    );

  it("between calls at the same time", async () => {
    const { over, kept } = logged(numbered());
    await settle();
    await shown(over, "file-0.txt");
    const texts = await Promise.all([...names, ...names].map((name) => shown(over, name)));
    expect(texts).toEqual([...names, ...names].map((name) => `this is ${name}`));
    expect(kept()).toHaveLength(1);
  });

  it("when a call is cancelled while it waits", async () => {
    const [hold, requests] = [place.path("hold"), place.path("requests")];
    const wait = `echo "$line" >> "${requests}"; if [ -e "${hold}" ]; then sleep 600; fi`;
    const answer = `echo "$line" | "${REAL}" cat-file --batch-command`;
    const script = `while read line; do ${wait}; ${answer}; done; exit`;
    const { over, kept } = logged(numbered(), script, "*--batch-command*");
    await settle();
    expect(await shown(over, "file-0.txt")).toBe("this is file-0.txt");
    const [pid = 0] = kept();
    writeFileSync(hold, "");
    const call = fakeCall();
    const cancelled = callTool(over, "git_show", { revision: "HEAD:file-1.txt" }, call);
    cancelled.catch(() => undefined);
    await expect.poll(() => readFileSync(requests, "utf8")).toContain("file-1.txt");
    const others = names.slice(2, 8).map((name) => shown(over, name));
    await settle();
    rmSync(hold);
    call.cancel();
    expect((await failureOf(cancelled)).kind).toBe("cancelled");
    expect(await Promise.all(others)).toEqual(names.slice(2, 8).map((name) => `this is ${name}`));
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await shown(over, "file-9.txt")).toBe("this is file-9.txt");
  });

  it("when it dies", async () => {
    const { over, kept } = logged(numbered());
    await settle();
    await shown(over, "file-0.txt");
    const [pid = 0] = kept();
    process.kill(pid, "SIGSTOP");
    const waiting = names.slice(0, 4).map((name) => shown(over, name));
    await settle();
    process.kill(pid, "SIGKILL");
    expect(await Promise.all(waiting)).toEqual(names.slice(0, 4).map((name) => `this is ${name}`));
    await shown(over, "file-0.txt");
    expect(kept().length).toBeGreaterThan(1);
  });

  it.each([
    ["ends at once", "exit 1"],
    ["prints something else", "echo hello; exec cat"],
    ["answers for another name", 'while read line; do echo "other missing"; done'],
    ["answers twice", 'while read line; do echo "x missing"; echo "x missing"; done'],
    [
      "claims that an object has 300 MB",
      `while read what name; do if [ "$what" = info ]; then echo "$name" | "${REAL}" cat-file --batch-check; else echo "$name blob 300000000"; fi; done; exit`,
    ],
    ["is too old for it", 'echo "unknown option" >&2; exit 129'],
  ])("when git %s", async (_, script) => {
    const { over } = logged(numbered(), script, "*--batch-command*");
    await settle();
    expect(await Promise.all(names.slice(0, 3).map((name) => shown(over, name)))).toEqual(
      names.slice(0, 3).map((name) => `this is ${name}`),
    );
    expect(await messages(over)).toEqual(["Files"]);
  });

  it("when an object is larger than what is kept in memory", async () => {
    const root = emptyRepository(place.path("repo"));
    const line = `${"0123456789".repeat(10)}\n`;
    commitFiles(root, "Large", { "large.txt": line.repeat(60_000), "small.txt": "small\n" });
    const { over, kept } = logged(root);
    const { text } = await callTool(over, "git_show", {
      revision: "HEAD:large.txt",
      start_line: 59_999,
    });
    expect(text).toContain("lines 59999 to 60000, file of 5.8 MiB");
    expect((await callTool(over, "git_show", { revision: "HEAD:small.txt" })).text).toContain(
      "small\n",
    );
    expect(kept()).toHaveLength(1);
  });

  it("when an object is damaged, which is reported as before", async () => {
    const root = numbered();
    const { over } = logged(root);
    await shown(over, "file-0.txt");
    const blob = git(root, "rev-parse", "HEAD:file-3.txt").trim();
    const file = join(root, ".git", "objects", blob.slice(0, 2), blob.slice(2));
    rmSync(file);
    writeFileSync(file, "damaged");
    const codes = [
      callTool(over, "git_show", { revision: blob }),
      callTool(gitOver([root]), "git_show", { revision: blob }),
    ];
    expect(await Promise.all(codes.map(codeOf))).toEqual(["missing_object", "missing_object"]);
    expect(await shown(over, "file-4.txt")).toBe("this is file-4.txt");
  });
});

describe("kept processes end", () => {
  it("when the server closes", async () => {
    const { over, kept } = logged(sampleRepository(place.path("repo")));
    await messages(over);
    const [pid = 0] = kept();
    expect(isRunning(pid)).toBe(true);
    over.close();
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await messages(over)).toHaveLength(3);
  });

  it("with the process that started them, which they don't keep running", async () => {
    const root = sampleRepository(place.path("repo"));
    const { kept } = logged(root);
    const bin = join(import.meta.dirname, "../dist/bin.js");
    const env = { ...process.env, PATH: `${place.path("bin")}:${process.env.PATH}` };
    const { status, stdout } = spawnSync(
      process.execPath,
      [bin, root, "call", "git_show", "HEAD:README.md"],
      {
        env,
        encoding: "utf8",
      },
    );
    expect(stdout).toContain("# Sample");
    expect(status).toBe(0);
    const [pid = 0] = kept();
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isRunning(pid)).toBe(false);
    // And if it is killed.
    const server = spawn(process.execPath, [bin, root], { env, stdio: ["pipe", "pipe", "ignore"] });
    const send = (message: object) =>
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1.0.0" };
    send({
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    send({ method: "notifications/initialized" });
    send({
      id: 2,
      method: "tools/call",
      params: { name: "git_show", arguments: { revision: "HEAD:README.md" } },
    });
    let output = "";
    server.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await expect.poll(() => output).toContain("# Sample");
    const last = kept().at(-1) ?? 0;
    expect(last).not.toBe(pid);
    expect(isRunning(last)).toBe(true);
    server.kill("SIGKILL");
    await expect.poll(() => isRunning(last)).toBe(false);
  });

  it("for the repositories that were not used for the longest time", async () => {
    const { over, kept } = logged(place.folder);
    for (let index = 0; index < 10; index++) {
      const repo_path = sampleRepository(place.path(`repo-${index}`));
      await messages(over, { repo_path });
    }
    expect(kept()).toHaveLength(10);
    await expect.poll(() => kept().filter(isRunning).length).toBeLessThanOrEqual(8);
    expect(isRunning(kept().at(-1) ?? 0)).toBe(true);
  });

  it("when the configuration changes", async () => {
    const root = sampleRepository(place.path("repo"));
    const { over, kept } = logged(root);
    await messages(over);
    git(root, "config", "branch.main.merge", "refs/heads/x");
    await messages(over, { revision: "feature" });
    const [first = 0, second = 0] = kept();
    await expect.poll(() => isRunning(first)).toBe(false);
    expect(isRunning(second)).toBe(true);
  });
});

describe("a log without a process is the log of git", () => {
  /** Branches and merges; many commits have the same date, and some are older than their parents. */
  function history(root: string, commits: number): void {
    let state = 7;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    let text = "";
    for (let index = 1; index <= commits; index++) {
      const zone = ["+0000", "-0330", "+0545", "-0000", "+1400"][random(5)];
      const time = 1_500_000_000 + Math.floor(index / 4) * 60 - random(3) * 200;
      const message =
        index % 7 === 0 ? "" : `Commit ${index}\n\n\nBody – ${"é".repeat(random(20))}\n\n`;
      const parents = [
        index - 1,
        ...Array.from({ length: random(3) }, () => index - 1 - random(12)),
      ].filter((one) => one > 0);
      const from = random(6) === 0 ? index - 1 - random(9) : index - 1;
      const [first, ...others] = [from, ...(random(2) === 0 ? parents.slice(1) : [])].filter(
        (one) => one > 0,
      );
      text += `commit refs/heads/${index % 11 === 0 ? `side-${index}` : "main"}\nmark :${index}\n`;
      text += `author A ${index} <a${index}@example.org> ${time - 5} ${zone}\ncommitter C <c@example.org> ${time} ${zone}\n`;
      text += `data ${Buffer.byteLength(message)}\n${message}\n`;
      if (first !== undefined) text += `from :${first}\n`;
      for (const other of new Set(others)) if (other !== first) text += `merge :${other}\n`;
      text += `M 100644 inline f${index % 5}\ndata ${String(index).length}\n${index}\n\n`;
    }
    const env = { PATH: process.env.PATH, HOME: place.home };
    const { status, stderr } = spawnSync("git", ["fast-import", "--quiet", "--force"], {
      cwd: root,
      input: text,
      env,
    });
    expect(String(stderr)).toBe("");
    expect(status).toBe(0);
  }

  /** Compares all pages of `git_log` with git; returns the number of commits. */
  async function compare(root: string, revision: string): Promise<number> {
    const { over } = logged(root);
    const found: Record<string, unknown>[] = [];
    for (let cursor: unknown; found.length === 0 || cursor !== undefined; ) {
      const { data } = await callTool(over, "git_log", {
        format: "full",
        revision,
        max_count: 37,
        ...(cursor ? { cursor } : {}),
      });
      found.push(...(data.commits as typeof found));
      cursor = data.next_cursor;
    }
    const format = "%H%x01%an%x01%ae%x01%aI%x01%P%x01%D%x01%B";
    const raw = gitWith(
      root,
      { GIT_NO_REPLACE_OBJECTS: "1" },
      "log",
      "-z",
      `--format=${format}`,
      revision,
      "--",
    );
    const commits = raw
      .split("\0")
      .filter(Boolean)
      .map((record) => {
        const [commit, author, email, date = "", parents = "", refs, body = ""] =
          record.split("\x01");
        return {
          commit,
          author,
          email,
          date: date.replace(/Z$/, "+00:00"),
          ...(parents.includes(" ") ? { parents: parents.split(" ") } : {}),
          ...(refs ? { refs: refs.split(", ") } : {}),
          message: body.trimEnd(),
        };
      });
    expect(found).toEqual(commits);
    return commits.length;
  }

  it.each(["sha1", "sha256"])("in order and in every field, with %s", async (format) => {
    const root = emptyRepository(place.path("repo"), `--object-format=${format}`);
    history(root, 260);
    git(root, "checkout", "--quiet", "main");
    git(root, "tag", "light", "HEAD~2");
    git(root, "tag", "-a", "-m", "One", "annotated", "HEAD~2");
    git(root, "tag", "-a", "-m", "Two", "nested", "annotated");
    git(root, "tag", "-a", "-m", "Tree", "of-a-tree", "HEAD^{tree}");
    for (const ref of [
      "refs/remotes/origin/main",
      "refs/refmcp/x",
      "refs/notes/x",
      "refs/stash",
      "refs/heads/a/b",
    ])
      git(root, "update-ref", ref, "HEAD");
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    git(root, "update-ref", "refs/remotes/origin/tag", git(root, "rev-parse", "annotated").trim());
    git(root, "replace", "HEAD~4", "HEAD~9");
    expect(await compare(root, "HEAD")).toBeGreaterThan(150);
    await compare(root, "side-253");
    git(root, "pack-refs", "--all");
    git(root, "checkout", "--quiet", "--detach", "HEAD~2");
    await compare(root, "main");
    git(root, "config", "log.excludeDecoration", "refs/tags/*");
    await compare(root, "main");
  });

  it("in a shallow clone", async () => {
    const source = emptyRepository(place.path("source"));
    history(source, 120);
    git(
      place.folder,
      "clone",
      "--quiet",
      "--depth=12",
      "--branch=main",
      `file://${source}`,
      "repo",
    );
    expect(await compare(place.path("repo"), "HEAD")).toBeGreaterThan(11);
  });

  it("with unusual commits", async () => {
    const root = emptyRepository(place.path("repo"));
    const tree = git(root, "write-tree").trim();
    const odd = [
      "author  <a@b> 1500000000 +0000",
      "author A<a@b> 1500000000 +0000",
      "author A <a@b>",
      "author A < a@b > 1500000000 +0000",
      "author A <a@b> 300000000000 +0000",
      "author . <a@b> 1500000000 +0000",
    ];
    let parent = "";
    for (const [index, author] of odd.entries()) {
      const header = `tree ${tree}\n${parent}${author}\ncommitter C <c@d> ${1_500_000_000 + index} +0000\n`;
      const encoding = index === 0 ? "encoding ISO-8859-1\n" : "";
      const message = Buffer.concat([
        Buffer.from(`${header}${encoding}\nCaf`),
        Buffer.of(0xe9),
        Buffer.from("\n"),
      ]);
      writeFileSync(join(root, "object"), index === 0 ? message : `${header}\nMessage ${index}\n`);
      const id = git(root, "hash-object", "--literally", "-t", "commit", "-w", "object").trim();
      parent = `parent ${id}\n`;
      git(root, "update-ref", `refs/heads/odd-${index}`, id);
      expect(await compare(root, id), author).toBe(index + 1);
    }
  });
});

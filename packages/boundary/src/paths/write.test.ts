import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  namesBelow,
  readOnly,
  refusal,
  verifications,
  type Workspace,
  winnersOf,
} from "../../test/fixtures/boundary.ts";
import { createPathGuard, type PathGuard } from "./path-guard.ts";

describe.each(verifications)("writing a file, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  let old: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
    old = join(root, "old.txt");
    await writeFile(old, "old");
  });
  afterEach(() => workspace.remove());

  /** Everything below the root; no attempt may leave anything else behind. */
  const names = () => namesBelow(root);
  const read = (name: string) => readFile(join(root, name), "utf8");
  const bytes = Buffer.from("new");

  describe("a new file", () => {
    it("gets its content and the mode allowed by the umask", async () => {
      const path = join(root, "new.txt");
      expect(await guard.writeFile("new.txt", bytes)).toEqual({ created: true, path });
      expect(await read("new.txt")).toBe("new");
      expect((await stat(path)).mode).toBe((await stat(old)).mode);
      expect(await names()).toEqual(["new.txt", "old.txt"]);
    });

    it("needs its parent, and may have a name of 255 bytes", async () => {
      await refusal(guard.writeFile("x/y/new.txt", bytes), "enoent");
      const name = "n".repeat(255);
      await guard.writeFile(name, bytes);
      expect(await names()).toEqual([name, "old.txt"]);
    });

    it("is created once in `create` mode, even with concurrent writers", async () => {
      const write = (_: unknown, index: number) =>
        workspace
          .guard(verification)
          .writeFile("one.txt", Buffer.from(`${index}`), { mode: "create" });
      const winners = await winnersOf(Array.from({ length: 20 }, write));
      expect(winners).toEqual([Number(await read("one.txt"))]);
      await refusal(guard.writeFile("old.txt", bytes, { mode: "create" }), "eexist");
      expect(await read("old.txt")).toBe("old");
      expect(await names()).toEqual(["old.txt", "one.txt"]);
    });
  });

  describe("an existing file", () => {
    it("is replaced, keeping its mode and its owner, but not a set-user-ID bit", async () => {
      if (process.getuid?.() === 0) execFileSync("chown", ["1234:2345", old]);
      await chmod(old, 0o4751);
      const { uid, gid, mode } = await stat(old);
      expect(await guard.writeFile("old.txt", bytes)).toEqual({ created: false, path: old });
      expect(await read("old.txt")).toBe("new");
      expect(await stat(old)).toMatchObject({ uid, gid, mode: mode & ~0o4000 });
    });

    it("is a new inode: another hard link keeps the old content", async () => {
      await link(old, join(root, "hard.txt"));
      await guard.writeFile("old.txt", bytes);
      expect(await read("hard.txt")).toBe("old");
    });

    it("removes the temporary files of killed processes, and nothing else", async () => {
      const long = new Date(Date.now() - 2 * 3_600_000);
      const others = [".refmcp-0123456789ab.tmp", ".refmcp-short.tmp", ".refmcp-ABCDEFGHIJKL.txt"];
      for (const name of [...others, ".refmcp-ABCDEF_-abcd.tmp"]) {
        await writeFile(join(root, name), "");
        if (name !== others[0]) await utimes(join(root, name), long, long);
      }
      await guard.writeFile("old.txt", bytes);
      expect(await names()).toEqual([...others.toSorted(), "old.txt"]);
    });

    it("is found in the other Unicode form", async () => {
      await writeFile(join(root, "cafe\u0301.txt"), "");
      expect(await guard.writeFile("caf\u00e9.txt", bytes)).toMatchObject({ created: false });
      expect(await names()).toEqual(["cafe\u0301.txt", "old.txt"]);
    });

    it("is shown to `check`, which can refuse, also a new file", async () => {
      for (const [name, expected] of [
        ["old.txt", "old"] as const,
        ["new.txt", undefined] as const,
      ]) {
        const work = guard.writeFile(name, bytes, {
          async check(existing) {
            expect((await existing?.handle.readFile())?.toString()).toBe(expected);
            throw new Error("refused");
          },
        });
        await expect(work).rejects.toThrow("refused");
      }
      expect(await read("old.txt")).toBe("old");
      expect(await names()).toEqual(["old.txt"]);
    });

    it("that changes after `check` is a conflict, and the change is kept", async () => {
      const changes = [
        () => rm(old).then(() => writeFile(old, "theirs")),
        // A program that holds its log open.
        () => appendFile(old, " and more"),
      ];
      for (const check of changes)
        await refusal(guard.writeFile("old.txt", bytes, { check }), "changed_meanwhile");
      expect(await read("old.txt")).toBe("theirs and more");
      await rm(old);
      const check = () => writeFile(old, "theirs");
      await refusal(guard.writeFile("old.txt", bytes, { check }), "eexist");
      expect(await read("old.txt")).toBe("theirs");
      await refusal(
        guard.writeFile("new.txt", bytes, { check: () => mkdir(join(root, "new.txt")) }),
        "eexist",
      );
      expect(await names()).toEqual(["new.txt", "old.txt"]);
    });

    it("loses none of 20 parallel changes: each is applied or refused", async () => {
      await writeFile(old, "0");
      const change = async (): Promise<void> => {
        const before = await read("old.txt");
        await guard.writeFile("old.txt", Buffer.from(`${Number(before) + 1}`), {
          async check(existing) {
            if (String(await existing?.handle.readFile()) !== before) throw new Error("changed");
          },
        });
      };
      const results = await Promise.allSettled(Array.from({ length: 20 }, change));
      const done = results.filter(({ status }) => status === "fulfilled").length;
      expect(done).toBeGreaterThan(0);
      expect(await read("old.txt")).toBe(`${done}`);
    });

    it("is never seen half-written, and two writers never mix", async () => {
      const contents = ["a", "b"].map((letter) => Buffer.alloc(300_000, letter));
      await writeFile(old, contents[0] ?? "");
      let writing = true;
      const writers = contents.map(async (content) => {
        const own = workspace.guard(verification);
        for (let round = 0; round < 15; round++) await own.writeFile("old.txt", content);
      });
      const reading = (async () => {
        let reads = 0;
        for (; writing; reads++) {
          const seen = await readFile(old);
          expect(contents.some((content) => content.equals(seen))).toBe(true);
        }
        return reads;
      })();
      await Promise.all(writers);
      writing = false;
      expect(await reading).toBeGreaterThan(0);
      expect(await names()).toEqual(["old.txt"]);
    });
  });

  describe("a link", () => {
    it("that stays inside is written through and remains a symlink", async () => {
      await symlink("old.txt", join(root, "one"));
      await symlink("one", join(root, "two"));
      expect(await guard.writeFile("two", bytes)).toEqual({ created: false, path: old });
      expect(await read("old.txt")).toBe("new");
      expect(await readlink(join(root, "two"))).toBe("one");
      expect(await readlink(join(root, "one"))).toBe("old.txt");
    });

    it("that dangles inside creates its target", async () => {
      await symlink("sub/new.txt", join(root, "dangling"));
      await refusal(guard.writeFile("dangling", bytes), "enoent");
      await refusal(guard.writeFile("dangling", bytes, { mode: "create" }), "eexist");
      await mkdir(join(root, "sub"));
      await guard.writeFile("dangling", bytes);
      expect(await read("sub/new.txt")).toBe("new");
      expect(await readlink(join(root, "dangling"))).toBe("sub/new.txt");
    });

    it("that leads outside is denied, to a file, a missing name or a directory", async () => {
      await symlink(workspace.secret, join(root, "file"));
      await symlink("../outside/new.txt", join(root, "missing"));
      await symlink("missing", join(root, "chain"));
      await symlink(workspace.outside, join(root, "directory"));
      const before = await names();
      const below = ["directory", "directory/new.txt", "directory/x/new.txt"];
      for (const path of ["file", "missing", "chain", ...below])
        for (const mode of ["overwrite", "create"] as const)
          await refusal(guard.writeFile(path, bytes, { mode }), "outside", `${mode} ${path}`);
      expect(await names()).toEqual(before);
    });
  });

  describe("fails, and leaves nothing behind,", () => {
    it("on a directory or a FIFO", async () => {
      await mkdir(join(root, "dir"));
      execFileSync("mkfifo", [join(root, "pipe")]);
      await refusal(guard.writeFile("dir", bytes), "is_directory");
      await refusal(guard.writeFile("pipe", bytes), "special_file");
      expect((await lstat(join(root, "pipe"))).isFIFO()).toBe(true);
      await refusal(guard.writeFile(root, bytes), "allowed_directory");
      expect(await names()).toEqual(["dir", "old.txt", "pipe"]);
    });

    it("on a read-only directory, which the error names", async () => {
      const vendor = join(root, "vendor");
      const guard = createPathGuard(allowlistOf(root, readOnly(vendor)), verification);
      await mkdir(vendor);
      await symlink("vendor/new.txt", join(root, "into"));
      for (const path of ["vendor/new.txt", "into"])
        expect((await refusal(guard.writeFile(path, bytes), "read_only")).message).toContain(
          vendor,
        );
      await refusal(guard.createDirectory("vendor/x"), "read_only");
      expect(await names()).toEqual(["into", "old.txt", "vendor"]);
      await guard.writeFile("new.txt", bytes);
    });

    it("when the disk fills up", async () => {
      const limit = (size: string) =>
        execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${size}:`]);
      limit("65536");
      try {
        const big = Buffer.alloc(1_000_000, "x");
        for (const name of ["old.txt", "new.txt"])
          await refusal(guard.writeFile(name, big), "efbig");
      } finally {
        limit("unlimited");
      }
      expect(await read("old.txt")).toBe("old");
      expect(await names()).toEqual(["old.txt"]);
    });
  });

  describe("in place", () => {
    it("appends and truncates, and never outside", async () => {
      await guard.updateFile("old.txt", async (handle) => {
        // Another program's addition is not overwritten.
        await appendFile(old, " theirs");
        await handle.write(" ours", 0);
      });
      expect(await read("old.txt")).toBe("old theirs ours");
      await guard.updateFile("old.txt", (handle) => handle.truncate(3));
      expect(await read("old.txt")).toBe("old");
      await symlink(workspace.secret, join(root, "out"));
      const truncate = (path: string) => guard.updateFile(path, (handle) => handle.truncate(0));
      await refusal(truncate("out"), "outside");
      await refusal(truncate("missing"), "enoent");
      await mkdir(join(root, "plain"));
      await refusal(truncate("plain"), "is_directory");
    });

    it("does not change a file with a second hard link, which may be outside", async () => {
      await link(old, join(root, "b.log"));
      const work = guard.updateFile("old.txt", (handle) => handle.write("more"));
      expect((await refusal(work, "several_links")).message).toContain("2 hard links");
      expect(await read("old.txt")).toBe("old");
    });
  });
});

import { execFileSync } from "node:child_process";
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
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
  guardOf,
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import type { PathGuard } from "./path-guard.ts";

describe.each(verifications)("writing a file, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
  });
  afterEach(() => workspace.remove());

  /** Everything below the root and outside it; no attempt may leave anything else behind. */
  async function names(): Promise<string[]> {
    expect(await readdir(workspace.outside)).toEqual(["secret.txt"]);
    expect(await readFile(workspace.secret, "utf8")).toBe("SECRET");
    return namesBelow(root);
  }

  describe("a new file", () => {
    it("gets its content and the mode allowed by the umask", async () => {
      expect(await guard.writeFile("new.txt", Buffer.from("content"))).toEqual({
        created: true,
        path: join(root, "new.txt"),
      });
      expect(await readFile(join(root, "new.txt"), "utf8")).toBe("content");
      await writeFile(join(root, "plain.txt"), "");
      expect((await stat(join(root, "new.txt"))).mode).toBe(
        (await stat(join(root, "plain.txt"))).mode,
      );
      expect(await names()).toEqual(["new.txt", "plain.txt"]);
    });

    it("needs its parent", async () => {
      expect(await refusal(guard.writeFile("x/y/new.txt", Buffer.from("")))).toMatchObject({
        kind: "not_found",
      });
      expect(await names()).toEqual([]);
    });

    it("is created once in `create` mode, even with concurrent writers", async () => {
      const guards = Array.from({ length: 20 }, () => workspace.guard(verification));
      const results = await Promise.allSettled(
        guards.map((one, index) =>
          one.writeFile("one.txt", Buffer.from(`${index}`), { mode: "create" }),
        ),
      );
      const winners = results.flatMap(({ status }, index) =>
        status === "fulfilled" ? [index] : [],
      );
      expect(winners).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected")
          expect(result.reason).toMatchObject({ kind: "conflict", code: "eexist" });
      }
      expect(await readFile(join(root, "one.txt"), "utf8")).toBe(`${winners[0]}`);
      expect(await names()).toEqual(["one.txt"]);
    });

    it("may have a name of 255 bytes", async () => {
      const name = "n".repeat(255);
      await guard.writeFile(name, Buffer.from("long"));
      expect(await names()).toEqual([name]);
    });
  });

  describe("an existing file", () => {
    beforeEach(() => writeFile(join(root, "old.txt"), "old"));

    it("is replaced, keeping its mode and its owner, but not a set-user-ID bit", async () => {
      const path = join(root, "old.txt");
      if (process.getuid?.() === 0) execFileSync("chown", ["1234:2345", path]);
      await chmod(path, 0o4751);
      const before = await stat(path);
      expect(await guard.writeFile("old.txt", Buffer.from("new"))).toEqual({
        created: false,
        path,
      });
      const after = await stat(path);
      expect(await readFile(path, "utf8")).toBe("new");
      expect(after).toMatchObject({
        uid: before.uid,
        gid: before.gid,
        mode: before.mode & ~0o4000,
      });
    });

    it("is a new inode: another hard link keeps the old content", async () => {
      await link(join(root, "old.txt"), join(root, "hard.txt"));
      await guard.writeFile("old.txt", Buffer.from("new"));
      expect(await readFile(join(root, "hard.txt"), "utf8")).toBe("old");
    });

    it("removes the temporary files of killed processes, and nothing else", async () => {
      const long = new Date(Date.now() - 2 * 3_600_000);
      const kept = [".refmcp-0123456789ab.tmp", ".refmcp-short.tmp", ".refmcp-ABCDEFGHIJKL.txt"];
      for (const name of [...kept, ".refmcp-ABCDEF_-abcd.tmp"]) {
        await writeFile(join(root, name), "");
        if (name !== kept[0]) await utimes(join(root, name), long, long);
      }
      await guard.writeFile("old.txt", Buffer.from("new"));
      expect(await names()).toEqual([...kept.toSorted(), "old.txt"]);
    });

    it("is found in the other Unicode form", async () => {
      await writeFile(join(root, "cafe\u0301.txt"), "");
      expect(await guard.writeFile("caf\u00e9.txt", Buffer.from("new"))).toMatchObject({
        created: false,
      });
      expect(await names()).toEqual(["cafe\u0301.txt", "old.txt"]);
    });

    it("is a conflict in `create` mode, and is kept", async () => {
      const error = await refusal(
        guard.writeFile("old.txt", Buffer.from("new"), { mode: "create" }),
      );
      expect(error).toMatchObject({ kind: "conflict", code: "eexist" });
      expect(await readFile(join(root, "old.txt"), "utf8")).toBe("old");
      expect(await names()).toEqual(["old.txt"]);
    });

    it("is shown to `check`, which can refuse", async () => {
      let seen: string | undefined;
      const work = guard.writeFile("old.txt", Buffer.from("new"), {
        async check(existing) {
          seen = await existing?.handle.readFile("utf8");
          throw new Error("refused");
        },
      });
      await expect(work).rejects.toThrow("refused");
      expect(seen).toBe("old");
      expect(await readFile(join(root, "old.txt"), "utf8")).toBe("old");
      expect(await names()).toEqual(["old.txt"]);
    });

    it("that changes after `check` is a conflict, and the change is kept", async () => {
      const path = join(root, "old.txt");
      const replacing = guard.writeFile("old.txt", Buffer.from("new"), {
        async check() {
          await rm(path);
          await writeFile(path, "somebody else's");
        },
      });
      expect(await refusal(replacing)).toMatchObject({ kind: "conflict" });
      expect(await readFile(path, "utf8")).toBe("somebody else's");
      await rm(path);
      const creating = guard.writeFile("old.txt", Buffer.from("new"), {
        check: () => writeFile(path, "somebody else's"),
      });
      expect(await refusal(creating)).toMatchObject({ kind: "conflict" });
      expect(await readFile(path, "utf8")).toBe("somebody else's");
      expect(await names()).toEqual(["old.txt"]);
    });

    it("loses none of 20 parallel changes: each is applied or refused", async () => {
      const path = join(root, "old.txt");
      await writeFile(path, "0");
      const change = async (): Promise<void> => {
        const before = await readFile(path, "utf8");
        await guard.writeFile("old.txt", Buffer.from(`${Number(before) + 1}`), {
          async check(existing) {
            if ((await existing?.handle.readFile("utf8")) !== before) throw new Error("changed");
          },
        });
      };
      const results = await Promise.allSettled(Array.from({ length: 20 }, change));
      const done = results.filter(({ status }) => status === "fulfilled").length;
      expect(done).toBeGreaterThan(0);
      expect(await readFile(path, "utf8")).toBe(`${done}`);
    });

    it("is never seen half-written, and two writers never mix", async () => {
      const path = join(root, "old.txt");
      const contents = ["a", "b"].map((letter) => Buffer.alloc(300_000, letter));
      await writeFile(path, contents[0] ?? "");
      let writing = true;
      const writers = contents.map(async (content) => {
        const own = workspace.guard(verification);
        for (let round = 0; round < 15; round++) await own.writeFile("old.txt", content);
      });
      const reading = (async () => {
        let reads = 0;
        while (writing) {
          const seen = await readFile(path);
          expect(contents.some((content) => content.equals(seen))).toBe(true);
          reads += 1;
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
      await mkdir(join(root, "sub"));
      await writeFile(join(root, "sub", "real.txt"), "old");
      await symlink("sub/real.txt", join(root, "one"));
      await symlink("one", join(root, "two"));
      expect(await guard.writeFile("two", Buffer.from("new"))).toEqual({
        created: false,
        path: join(root, "sub", "real.txt"),
      });
      expect(await readFile(join(root, "sub", "real.txt"), "utf8")).toBe("new");
      expect(await readlink(join(root, "two"))).toBe("one");
      expect(await readlink(join(root, "one"))).toBe("sub/real.txt");
    });

    it("that dangles inside creates its target", async () => {
      await symlink("sub/new.txt", join(root, "dangling"));
      expect(await refusal(guard.writeFile("dangling", Buffer.from("")))).toMatchObject({
        kind: "not_found",
      });
      await mkdir(join(root, "sub"));
      await guard.writeFile("dangling", Buffer.from("new"));
      expect(await readFile(join(root, "sub", "new.txt"), "utf8")).toBe("new");
      expect(await readlink(join(root, "dangling"))).toBe("sub/new.txt");
    });

    it("that leads outside is denied, to a file, a missing name or a directory", async () => {
      await symlink(workspace.secret, join(root, "file"));
      await symlink("../outside/new.txt", join(root, "missing"));
      await symlink("missing", join(root, "chain"));
      await symlink(workspace.outside, join(root, "directory"));
      const before = await names();
      for (const mode of ["overwrite", "create"] as const) {
        for (const path of [
          "file",
          "missing",
          "chain",
          "directory",
          "directory/new.txt",
          "directory/x/new.txt",
        ]) {
          const work = guard.writeFile(path, Buffer.from("ESCAPED"), { mode });
          expect(await refusal(work), `${mode} ${path}`).toMatchObject({
            kind: "denied",
            code: "outside",
          });
        }
      }
      expect(await names()).toEqual(before);
    });

    it("is a conflict in `create` mode", async () => {
      await symlink("new.txt", join(root, "dangling"));
      const work = guard.writeFile("dangling", Buffer.from(""), { mode: "create" });
      expect(await refusal(work)).toMatchObject({ kind: "conflict" });
      expect(await names()).toEqual(["dangling"]);
    });
  });

  describe("fails", () => {
    // Each leaves nothing behind.
    it("on a directory or a FIFO", async () => {
      await mkdir(join(root, "dir"));
      execFileSync("mkfifo", [join(root, "pipe")]);
      expect(await refusal(guard.writeFile("dir", Buffer.from("")))).toMatchObject({
        kind: "invalid",
      });
      expect(await refusal(guard.writeFile("pipe", Buffer.from("")))).toMatchObject({
        kind: "denied",
      });
      expect((await lstat(join(root, "pipe"))).isFIFO()).toBe(true);
      expect(await refusal(guard.writeFile(root, Buffer.from("")))).toMatchObject({
        kind: "denied",
      });
      expect(await names()).toEqual(["dir", "pipe"]);
    });

    it("on a read-only directory, which the error names", async () => {
      const guarded = guardOf(
        allowlistOf(
          { path: root, source: "argument" },
          { path: join(root, "vendor"), source: "argument", writable: false },
        ),
        verification,
      );
      await mkdir(join(root, "vendor"));
      await symlink("vendor/new.txt", join(root, "into"));
      for (const work of [
        () => guarded.writeFile("vendor/new.txt", Buffer.from("")),
        () => guarded.createDirectory("vendor/x"),
        () => guarded.writeFile("into", Buffer.from("")),
      ]) {
        const error = await refusal(work());
        expect(error).toMatchObject({ kind: "denied", code: "read_only" });
        expect(error.message).toContain(`"${join(root, "vendor")}"`);
      }
      expect(await names()).toEqual(["into", "vendor"]);
      await guarded.writeFile("new.txt", Buffer.from("next to it"));
    });

    it("when its check refuses", async () => {
      const work = guard.writeFile("new.txt", Buffer.from(""), {
        check: () => Promise.reject(new Error("refused")),
      });
      await expect(work).rejects.toThrow("refused");
      expect(await names()).toEqual([]);
    });

    it("when a directory takes the name at the last moment", async () => {
      const work = guard.writeFile("new.txt", Buffer.from(""), {
        check: () => mkdir(join(root, "new.txt")),
      });
      expect(await refusal(work)).toMatchObject({ kind: "conflict" });
      expect(await names()).toEqual(["new.txt"]);
    });

    it("when the disk fills up", async () => {
      await writeFile(join(root, "old.txt"), "old");
      const limit = (bytes: string) =>
        execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
      limit("65536");
      try {
        const big = Buffer.alloc(1_000_000, "x");
        expect(await refusal(guard.writeFile("old.txt", big))).toMatchObject({ kind: "too_large" });
        expect(await refusal(guard.writeFile("new.txt", big))).toMatchObject({ kind: "too_large" });
      } finally {
        limit("unlimited");
      }
      expect(await readFile(join(root, "old.txt"), "utf8")).toBe("old");
      expect(await names()).toEqual(["old.txt"]);
    });
  });
});

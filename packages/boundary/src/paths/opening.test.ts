import { execFileSync } from "node:child_process";
import { link, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  guardOf,
  makeWorkspace,
  readThrough,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import type { PathGuard } from "./path-guard.ts";

describe.each(verifications)("opening, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
    await writeFile(join(root, "a.txt"), "hello");
    await mkdir(join(root, "sub"));
    await writeFile(join(root, "sub", "b.txt"), "below");
  });
  afterEach(() => workspace.remove());

  describe("what is inside", () => {
    it("is opened and described", async () => {
      const file = await guard.openFile("sub/../a.txt");
      expect(file).toMatchObject({
        path: join(root, "a.txt"),
        realPath: join(root, "a.txt"),
        directory: { path: root },
        stat: { size: 5, nlink: 1 },
      });
      expect(await file.handle.readFile("utf8")).toBe("hello");
      await file.handle.close();
      const directory = await guard.openDirectory(root);
      expect(directory).toMatchObject({ path: root, realPath: root, directory: { path: root } });
      expect(await readFile(directory.entry("a.txt"), "utf8")).toBe("hello");
      for (const name of [".", "..", "sub/b.txt", "a\0"])
        expect(() => directory.entry(name)).toThrow(TypeError);
      await directory.verify();
      await directory.close();
      await directory.close();
    });

    it("is found by an absolute path, a relative one and a file URI", async () => {
      for (const path of [
        join(root, "a.txt"),
        "a.txt",
        "./a.txt",
        pathToFileURL(join(root, "a.txt")).href,
      ]) {
        expect(await readThrough(guard, path)).toBe("hello");
      }
    });

    it("is searched for in the directories in order", async () => {
      const second = join(workspace.base, "second");
      await mkdir(second);
      await writeFile(join(second, "only-here.txt"), "second");
      await writeFile(join(second, "a.txt"), "second");
      const allowed = allowlistOf(
        { path: root, source: "argument" },
        { path: second, source: "argument" },
      );
      const both = guardOf(allowed, verification);
      expect(await readThrough(both, "a.txt")).toBe("hello");
      expect(await readThrough(both, "only-here.txt")).toBe("second");
      expect(await both.resolve("nowhere.txt")).toBe(join(root, "nowhere.txt"));
      expect(await both.resolve(`../${basename(second)}/new.txt`)).toBe(join(second, "new.txt"));
    });

    it("is opened through links that stay inside, in chains too", async () => {
      await symlink("a.txt", join(root, "one"));
      await symlink(join(root, "one"), join(root, "two"));
      await symlink("sub", join(root, "dir"));
      await symlink("../dir/b.txt", join(root, "sub", "up"));
      for (const path of ["one", "two"]) expect(await readThrough(guard, path)).toBe("hello");
      for (const path of ["dir/b.txt", "sub/up", "dir/up"])
        expect(await readThrough(guard, path)).toBe("below");
      const file = await guard.openFile("dir/up");
      expect(file).toMatchObject({
        path: join(root, "dir", "up"),
        realPath: join(root, "sub", "b.txt"),
      });
      await file.handle.close();
    });

    it("is found whether a name is stored as NFC or NFD", async () => {
      await mkdir(join(root, "re\u0301sume\u0301"));
      await writeFile(join(root, "re\u0301sume\u0301", "\u00fcber.txt"), "forms");
      expect(await readThrough(guard, "r\u00e9sum\u00e9/u\u0308ber.txt")).toBe("forms");
      await (await guard.openDirectory("r\u00e9sum\u00e9")).close();
      await writeFile(join(root, "\u00fcber.txt"), "composed");
      await writeFile(join(root, "u\u0308ber.txt"), "decomposed");
      expect(await readThrough(guard, "u\u0308ber.txt")).toBe("decomposed");
      expect(await readThrough(guard, "\u00fcber.txt")).toBe("composed");
    });

    it("is read by its name, with literal percent signs", async () => {
      await writeFile(join(root, "%2e%2e%2fsecret.txt"), "literal");
      expect(await readThrough(guard, "%2e%2e%2fsecret.txt")).toBe("literal");
      expect(await refusal(guard.openFile("..%2foutside%2fsecret.txt"))).toMatchObject({
        kind: "not_found",
      });
    });

    it("may be a hard link, as shown by the link count", async () => {
      await link(workspace.secret, join(root, "hard"));
      const file = await guard.openFile("hard");
      expect(file.stat.nlink).toBe(2);
      await file.handle.close();
    });

    it("is reported by `contains`, and nothing else is", () => {
      expect(guard.contains(root)).toBe(true);
      expect(guard.contains(join(root, "x", "y"))).toBe(true);
      expect(guard.contains(`${root}-evil`)).toBe(false);
      expect(guard.contains(workspace.base)).toBe(false);
    });
  });

  it("recognizes an allowed directory by all its names", async () => {
    const link = join(workspace.base, "link");
    await symlink(root, link);
    await symlink(workspace.base, join(workspace.base, "above"));
    const linked = guardOf(allowlistOf({ path: link, source: "argument" }), verification);
    const names = [
      join(link, "a.txt"),
      join(root, "a.txt"),
      join(workspace.base, "above", "root", "a.txt"),
    ];
    for (const path of [...names, "a.txt"]) expect(await readThrough(linked, path)).toBe("hello");
    expect(await linked.resolve(join(workspace.base, "above", "link", "sub", "x"))).toBe(
      join(root, "sub", "x"),
    );
    expect(
      await refusal(linked.openFile(join(workspace.base, "above", "outside", "secret.txt"))),
    ).toMatchObject({
      code: "outside",
    });
  });

  describe("refuses", () => {
    describe("what is outside", () => {
      /** The error without the requested path; it must not reveal whether anything exists there. */
      async function answer(path: string): Promise<unknown> {
        const { kind, code, message, hint } = await refusal(guard.openFile(path));
        return { kind, code, hint, message: message.replace(/^"[^"]*"/, "X") };
      }

      it("is denied the same whether it exists or not", async () => {
        await mkdir(`${root}-evil`);
        await writeFile(`${root}-evil/x`, "SECRET");
        const expected = await answer("/no/such/thing");
        expect(expected).toMatchObject({ kind: "denied", code: "outside" });
        for (const path of [
          workspace.secret,
          `${workspace.outside}/nothing`,
          `${root}/../outside/secret.txt`,
          `${root}/../outside/nothing`,
          "../outside/secret.txt",
          "../../../../../../etc/passwd",
          `${root}-evil/x`,
          `${root}-evil/y`,
          workspace.base,
          "/",
          "~",
          `~/${relative(homedir(), workspace.secret)}`,
          pathToFileURL(workspace.secret).href,
          `file://${root}/%2e%2e/outside/secret.txt`,
        ]) {
          expect(await answer(path), path).toEqual(expected);
        }
      });

      it("is denied through links the same whether it exists or not", async () => {
        const links = {
          file: workspace.secret,
          relative: "../outside/secret.txt",
          chain: "relative",
          missing: "../outside/nothing",
          missingDeep: join(workspace.outside, "no", "thing"),
          directory: workspace.outside,
          disk: "/",
          loopOutside: "../outside/loop",
          dotted: "sub/../../outside/secret.txt",
          unreadable: "/root/nothing",
        };
        for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
        await symlink("loop", join(workspace.outside, "loop"));
        const expected = await answer("file");
        expect(expected).toMatchObject({ kind: "denied", code: "outside" });
        const through = [
          "directory/secret.txt",
          "directory/nothing",
          "directory/no/thing",
          "disk/etc/passwd",
          "disk/no",
        ];
        for (const path of [...Object.keys(links), ...through, "sub/../directory/secret.txt"]) {
          expect(await answer(path), path).toEqual(expected);
        }
        expect(await refusal(guard.openDirectory("directory"))).toMatchObject({
          kind: "denied",
          code: "outside",
        });
        expect(await refusal(guard.openDirectory("missing"))).toMatchObject({
          kind: "denied",
          code: "outside",
        });
        expect(await refusal(guard.place("directory/new.txt"))).toMatchObject({
          kind: "denied",
          code: "outside",
        });
      });

      it("does not show which Unicode form of a name is there", async () => {
        await writeFile(join(workspace.outside, "e\u0301.txt"), "SECRET");
        await symlink(workspace.outside, join(root, "there"));
        const [stored, missing] = await Promise.all(
          ["\u00e9.txt", "\u00e8.txt"].map((name) => refusal(guard.openFile(`there/${name}`))),
        );
        expect(stored).toMatchObject({ code: "outside" });
        expect(stored?.message.normalize().replace("é", "è")).toBe(missing?.message.normalize());
      });

      it("does not show by `exists` what is behind a link that leads outside", async () => {
        await symlink(workspace.outside, join(root, "there"));
        await symlink(join(workspace.outside, "missing"), join(root, "gone"));
        for (const path of ["there/secret.txt", "there/none", "gone/x", "../outside/secret.txt"])
          expect(await refusal(guard.exists(path)), path).toMatchObject({ code: "outside" });
        for (const path of ["there", "gone", "a.txt", "sub", "."])
          expect(await guard.exists(path), path).toBe(true);
        for (const path of ["none", "none/below"])
          expect(await guard.exists(path), path).toBe(false);
        expect(await refusal(guard.exists("a.txt/x"))).toMatchObject({ code: "not_directory" });
      });

      it("is reported with what is wrong, what is allowed, and what to do", async () => {
        const error = await refusal(guard.openFile(workspace.secret));
        expect(error.message).toBe(
          `"${workspace.secret}" is outside the allowed directories; the allowed directory is "${root}".`,
        );
        expect(error.hint).toContain("--root");
      });

      it("is not described through a symlink either", async () => {
        await symlink("../outside/secret.txt", join(root, "out"));
        await symlink("a.txt", join(root, "in"));
        await symlink("nothing", join(root, "broken"));
        expect(await guard.readLink("out")).toEqual({
          target: "../outside/secret.txt",
          inside: false,
        });
        expect(await guard.readLink("in")).toEqual({ target: "a.txt", inside: true });
        expect(await guard.readLink("broken")).toEqual({ target: "nothing", inside: false });
        expect(await refusal(guard.readLink("a.txt"))).toMatchObject({
          kind: "invalid",
          code: "not_link",
        });
        expect(await refusal(guard.readLink("none"))).toMatchObject({ kind: "not_found" });
      });
    });

    describe("something that is not a file", () => {
      it.each(["openFile", "openDirectory"] as const)(
        "%s refuses a FIFO at once, without touching it",
        async (method) => {
          execFileSync("mkfifo", [join(root, "pipe")]);
          expect(await refusal(guard[method]("pipe"))).toMatchObject({
            kind: "denied",
            code: "special_file",
            message: expect.stringContaining("FIFO"),
          });
        },
      );

      it("refuses a socket", async () => {
        const server = createServer().listen(join(root, "socket"));
        try {
          await new Promise((resolve) => server.once("listening", resolve));
          expect(await refusal(guard.openFile("socket"))).toMatchObject({
            kind: "denied",
            code: "special_file",
          });
        } finally {
          server.close();
        }
      });

      it("refuses devices, /proc and /dev/fd even if the whole disk is allowed", async () => {
        const whole = guardOf(allowlistOf({ path: "/", source: "argument" }), verification);
        await symlink("/dev/null", join(root, "null"));
        await symlink("/proc/self/environ", join(root, "environ"));
        await symlink(`/proc/self/root${workspace.secret}`, join(root, "round"));
        for (const path of [
          "/dev/null",
          "/dev/fd/0",
          "/dev/stdin",
          "/proc/self/environ",
          "/proc/1/root/etc/passwd",
          "/sys/kernel",
        ]) {
          expect(await refusal(whole.openFile(path)), path).toMatchObject({ kind: "denied" });
        }
        for (const name of ["null", "environ"]) {
          expect(await refusal(whole.openFile(join(root, name))), name).toMatchObject({
            kind: "denied",
          });
          expect(await refusal(guard.openFile(name)), name).toMatchObject({
            kind: "denied",
            code: "outside",
          });
        }
        expect(await refusal(guard.openFile("round"))).toMatchObject({
          kind: "denied",
          code: "outside",
        });
        expect(await refusal(whole.openDirectory("/proc"))).toMatchObject({ kind: "denied" });
        expect(await refusal(whole.openDirectory("/dev/fd"))).toMatchObject({ kind: "denied" });
        expect(await readThrough(whole, workspace.secret)).toBe("SECRET");
      });

      it("distinguishes a directory from a file", async () => {
        expect(await refusal(guard.openFile("sub"))).toMatchObject({
          kind: "invalid",
          code: "is_directory",
        });
        expect(await refusal(guard.openDirectory("a.txt"))).toMatchObject({
          kind: "invalid",
          code: "not_directory",
        });
      });
    });

    describe("a missing path", () => {
      it("is reported with the nearest directory and similar names", async () => {
        const error = await refusal(guard.openFile("sub/bb.txt"));
        expect(error.kind).toBe("not_found");
        expect(error.message).toBe(
          `"${root}/sub/bb.txt" does not exist; the nearest existing directory is "${root}/sub" and contains "b.txt".`,
        );
        expect((await refusal(guard.openFile("none/at/all"))).message).toContain(
          `directory is "${root}".`,
        );
        expect((await refusal(guard.openFile("a.txt/x"))).message).toContain(
          `"${root}/a.txt" is a file`,
        );
      });

      it("is refused for loops of links and names that are too long", async () => {
        await symlink("loop-b", join(root, "loop-a"));
        await symlink("loop-a", join(root, "loop-b"));
        expect(await refusal(guard.openFile("loop-a"))).toMatchObject({
          kind: "invalid",
          code: "eloop",
        });
        expect(await refusal(guard.openFile("x".repeat(256)))).toMatchObject({ kind: "invalid" });
        expect(await refusal(guard.openFile("x/".repeat(2050)))).toMatchObject({ kind: "invalid" });
        expect(await refusal(guard.openFile("a\0.txt"))).toMatchObject({ kind: "invalid" });
      });

      it("that is the allowed directory: the error names it and the option, and it works again when it exists again", async () => {
        const aside = join(workspace.base, "aside");
        await rename(root, aside);
        const error = await refusal(guard.openFile(join(root, "a.txt")));
        expect(error).toMatchObject({ kind: "unavailable", code: "directory_unavailable" });
        expect(error.message).toContain(`"${root}" (argument) does not exist`);
        expect(error.hint).toContain("--root");
        expect(await refusal(guard.openFile(join(aside, "a.txt")))).toMatchObject({
          kind: "denied",
        });
        await mkdir(root);
        await writeFile(join(root, "a.txt"), "again");
        expect(await readThrough(guard, "a.txt")).toBe("again");
        await rm(root, { recursive: true });
        await symlink(aside, root);
        expect(await refusal(guard.openFile("a.txt"))).toMatchObject({ kind: "denied" });
      });
    });
  });
});

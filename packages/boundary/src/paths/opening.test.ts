import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  readThrough,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { createPathGuard, type PathGuard } from "./path-guard.ts";

describe.each(verifications)("opening, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  let outside: string;
  /** What a test made outside. */
  let outsideNames: string[];
  beforeEach(async () => {
    outsideNames = [];
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    ({ root, outside } = workspace);
    await writeFile(join(root, "a.txt"), "hello");
    await mkdir(join(root, "sub"));
    await writeFile(join(root, "sub", "b.txt"), "below");
  });
  afterEach(() => workspace.remove(...outsideNames));

  const guardOf = (...paths: string[]) => createPathGuard(allowlistOf(...paths), verification);

  describe("what is inside", () => {
    it("is opened and described", async () => {
      const file = await guard.openFile("sub/../a.txt");
      const path = join(root, "a.txt");
      const stat = { size: 5, nlink: 1 };
      expect(file).toMatchObject({ path, realPath: path, directory: { path: root }, stat });
      expect(String(await file.handle.readFile())).toBe("hello");
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

    it("is found by an absolute path, a relative one and a file URI, with literal percent signs", async () => {
      const path = join(root, "a.txt");
      for (const text of [path, "a.txt", "./a.txt", pathToFileURL(path).href])
        expect(await readThrough(guard, text)).toBe("hello");
      await writeFile(join(root, "%2e%2e%2fsecret.txt"), "literal");
      expect(await readThrough(guard, "%2e%2e%2fsecret.txt")).toBe("literal");
      await refusal(guard.openFile("..%2foutside%2fsecret.txt"), "enoent");
    });

    it("is searched for in the directories in order", async () => {
      const second = join(workspace.base, "second");
      await mkdir(second);
      for (const name of ["only-here.txt", "a.txt"]) await writeFile(join(second, name), "second");
      const both = guardOf(root, second);
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
      const realPath = join(root, "sub", "b.txt");
      expect(file).toMatchObject({ path: join(root, "dir", "up"), realPath });
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

    it("is reported by `contains`, and nothing else is", () => {
      const paths = [root, join(root, "x", "y"), `${root}-evil`, workspace.base];
      expect(paths.map((path) => guard.contains(path))).toEqual([true, true, false, false]);
    });
  });

  it("recognizes an allowed directory by all its names", async () => {
    const { base } = workspace;
    const linked = join(base, "link");
    await symlink(root, linked);
    await symlink(base, join(base, "above"));
    const guard = guardOf(linked);
    for (const at of [linked, root, join(base, "above", "root"), ""])
      expect(await readThrough(guard, join(at, "a.txt"))).toBe("hello");
    const below = await guard.resolve(join(base, "above", "link", "sub", "x"));
    expect(below).toBe(join(root, "sub", "x"));
    await refusal(guard.openFile(join(base, "above", "outside", "secret.txt")), "outside");
  });

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
      expect(expected).toEqual({
        ...{ kind: "denied", code: "outside", hint: expect.stringContaining("--root") },
        message: `X is outside the allowed directories; the allowed directory is "${root}".`,
      });
      for (const path of [
        ...[workspace.secret, `${outside}/nothing`, workspace.base, "/", "~"],
        ...[`${root}/../outside/secret.txt`, `${root}/../outside/nothing`],
        ...["../outside/secret.txt", "../../../../../../etc/passwd"],
        ...[`${root}-evil/x`, `${root}-evil/y`, `~/${relative(homedir(), workspace.secret)}`],
        pathToFileURL(workspace.secret).href,
        `file://${root}/%2e%2e/outside/secret.txt`,
      ])
        expect(await answer(path), path).toEqual(expected);
    });

    it("is denied through links the same whether it exists or not", async () => {
      const links = {
        file: workspace.secret,
        relative: "../outside/secret.txt",
        chain: "relative",
        missing: "../outside/nothing",
        missingDeep: join(outside, "no", "thing"),
        directory: outside,
        disk: "/",
        loopOutside: "../outside/loop",
        dotted: "sub/../../outside/secret.txt",
        unreadable: "/root/nothing",
      };
      for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
      outsideNames = ["loop"];
      await symlink("loop", join(outside, "loop"));
      const expected = await answer("file");
      expect(expected).toMatchObject({ kind: "denied", code: "outside" });
      for (const path of [
        ...Object.keys(links),
        ...["directory/secret.txt", "directory/nothing", "directory/no/thing", "disk/etc/passwd"],
        ...["disk/no", "sub/../directory/secret.txt"],
      ])
        expect(await answer(path), path).toEqual(expected);
      await refusal(guard.openDirectory("directory"), "outside");
      await refusal(guard.openDirectory("missing"), "outside");
      await refusal(guard.place("directory/new.txt"), "outside");
    });

    it("does not show which Unicode form of a name is there", async () => {
      outsideNames = ["e\u0301.txt"];
      await writeFile(join(outside, "e\u0301.txt"), "SECRET");
      await symlink(outside, join(root, "there"));
      const [stored, missing] = await Promise.all(
        ["\u00e9.txt", "\u00e8.txt"].map((name) => refusal(guard.openFile(`there/${name}`))),
      );
      expect(stored).toMatchObject({ code: "outside" });
      expect(stored?.message.normalize().replace("é", "è")).toBe(missing?.message.normalize());
    });

    it("is not shown by `exists` behind a link that leads there", async () => {
      await symlink(outside, join(root, "there"));
      await symlink(join(outside, "missing"), join(root, "gone"));
      for (const path of ["there/secret.txt", "there/none", "gone/x", "../outside/secret.txt"])
        await refusal(guard.exists(path), "outside", path);
      for (const path of ["there", "gone", "a.txt", "sub", "."])
        expect(await guard.exists(path), path).toBe(true);
      for (const path of ["none", "none/below"]) expect(await guard.exists(path), path).toBe(false);
      await refusal(guard.exists("a.txt/x"), "not_directory");
    });

    it("is not described through a symlink either", async () => {
      const links = { out: "../outside/secret.txt", in: "a.txt", broken: "nothing" };
      for (const [name, target] of Object.entries(links)) {
        await symlink(target, join(root, name));
        expect(await guard.readLink(name)).toEqual({ target, inside: name === "in" });
      }
      await refusal(guard.readLink("a.txt"), "not_link");
      await refusal(guard.readLink("none"), "enoent");
    });
  });

  describe("something that is not a file", () => {
    it("is refused at once if it is a FIFO, untouched, or a socket", async () => {
      execFileSync("mkfifo", [join(root, "pipe")]);
      for (const method of ["openFile", "openDirectory"] as const)
        expect((await refusal(guard[method]("pipe"), "special_file")).message).toContain("FIFO");
      const server = createServer().listen(join(root, "socket"));
      await new Promise((resolve) => server.once("listening", resolve));
      await refusal(guard.openFile("socket"), "special_file");
      server.close();
    });

    it("is refused if it is a device, /proc or /dev/fd even if the whole disk is allowed", async () => {
      const whole = guardOf("/");
      await symlink("/dev/null", join(root, "null"));
      await symlink("/proc/self/environ", join(root, "environ"));
      await symlink(`/proc/self/root${workspace.secret}`, join(root, "round"));
      for (const path of [
        ...["/dev/null", "/dev/fd/0", "/dev/stdin", "/proc/self/environ"],
        ...["/proc/1/root/etc/passwd", "/sys/kernel", join(root, "null"), join(root, "environ")],
      ])
        expect(await refusal(whole.openFile(path)), path).toMatchObject({ kind: "denied" });
      for (const name of ["null", "environ", "round"])
        await refusal(guard.openFile(name), "outside", name);
      for (const path of ["/proc", "/dev/fd"])
        expect(await refusal(whole.openDirectory(path))).toMatchObject({ kind: "denied" });
      expect(await readThrough(whole, workspace.secret)).toBe("SECRET");
    });

    it("is distinguished from a file if it is a directory", async () => {
      await refusal(guard.openFile("sub"), "is_directory");
      await refusal(guard.openDirectory("a.txt"), "not_directory");
    });
  });

  describe("a missing path", () => {
    it("is reported with the nearest directory and similar names", async () => {
      expect((await refusal(guard.openFile("sub/bb.txt"), "enoent")).message).toBe(
        `"${root}/sub/bb.txt" does not exist; the nearest existing directory is "${root}/sub" and contains "b.txt".`,
      );
      const messageOf = async (path: string) => (await refusal(guard.openFile(path))).message;
      expect(await messageOf("none/at/all")).toContain(`directory is "${root}".`);
      expect(await messageOf("a.txt/x")).toContain(`"${root}/a.txt" is a file`);
    });

    it("is refused for loops of links and names that are too long", async () => {
      await symlink("loop-b", join(root, "loop-a"));
      await symlink("loop-a", join(root, "loop-b"));
      await refusal(guard.openFile("loop-a"), "eloop");
      for (const path of ["x".repeat(256), "x/".repeat(2050), "a\0.txt"])
        await refusal(guard.openFile(path), "invalid", path);
    });

    it.runIf(verification === "proc")(
      "leaves no descriptor open if its real path is too long",
      async () => {
        const long = Array.from({ length: 12 }, () => "d".repeat(200)).join("/");
        await mkdir(join(root, long), { recursive: true });
        await symlink(long, join(root, "link"));
        await mkdir(join(root, "link", long), { recursive: true });
        const before = (await readdir("/proc/self/fd")).length;
        for (let call = 0; call < 20; call++)
          await refusal(guard.openDirectory(join("link", long)), "enametoolong");
        expect((await readdir("/proc/self/fd")).length).toBeLessThan(before + 20);
        // `rm` would need paths that are too long, too.
        await rm(join(root, "link", "d".repeat(200)), { recursive: true });
      },
    );

    it("may be the allowed directory: the error names it and the option, and it works again when it exists again", async () => {
      const aside = join(workspace.base, "aside");
      await rename(root, aside);
      const error = await refusal(guard.openFile(join(root, "a.txt")), "directory_unavailable");
      expect(error.message).toContain(`"${root}" (argument) does not exist`);
      expect(error).toMatchObject({ kind: "unavailable", hint: expect.stringContaining("--root") });
      await refusal(guard.openFile(join(aside, "a.txt")), "outside");
      await mkdir(root);
      await writeFile(join(root, "a.txt"), "again");
      expect(await readThrough(guard, "a.txt")).toBe("again");
      await rm(root, { recursive: true });
      await symlink(aside, root);
      expect(await refusal(guard.openFile("a.txt"))).toMatchObject({ kind: "denied" });
    });
  });
});

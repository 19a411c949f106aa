import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bundledBin, type Line, onZ, START_MS, windows } from "./wine.ts";

const TOP = "C:\\Ünï Cödé";

/** Paths that must lead nowhere, each with what its refusal says. */
const HOSTILE: Readonly<Record<string, RegExp>> = {
  "C:secret.txt": /relative to a drive's current directory/,
  "\\\\?\\C:\\Ünï Cödé\\secret.txt": /device path/,
  "\\\\.\\C:\\Ünï Cödé\\secret.txt": /device path/,
  "//?/C:/Ünï Cödé/secret.txt": /device path/,
  "\\??\\C:\\Ünï Cödé\\secret.txt": /device path/,
  "\\\\.\\pipe\\refmcp": /device path/,
  "\\\\server\\share\\secret.txt": /outside the allowed directories/,
  "//127.0.0.1/c$/secret.txt": /outside the allowed directories/,
  "\\Ünï Cödé\\secret.txt": /has no drive/,
  "/etc/passwd": /has no drive/,
  "Z:\\etc\\passwd": /outside the allowed directories/,
  "C:\\Ünï Cödé\\secret.txt": /outside the allowed directories/,
  "c:/ünï cödé/SECRET.TXT": /outside the allowed directories/,
  "C:\\Ünï Cödé\\My Project-evil\\secret.txt": /outside the allowed directories/,
  "..\\secret.txt": /outside the allowed directories/,
  "sub\\..\\..\\secret.txt": /outside the allowed directories/,
  "leak.txt": /outside the allowed directories|already exists/,
  "leak\\secret.txt": /outside the allowed directories/,
  "file:///C:/%C3%9Cn%C3%AF%20C%C3%B6d%C3%A9/secret.txt": /outside the allowed directories/,
  "file://server/share/secret.txt": /a host/,
  CON: /reserved/,
  "NUL.txt": /reserved/,
  "sub\\com1.tar.gz": /reserved/,
  "LPT9 .txt": /reserved/,
  CONIN$: /reserved/,
  "notes.txt.": /ends (in|with)/,
  "notes.txt ": /ends (in|with)/,
  "sub.\\x.txt": /ends (in|with)/,
  "notes.txt:s": /stream/,
  "notes.txt::$DATA": /stream/,
  "sub:$I30:$INDEX_ALLOCATION": /stream/,
  "a?.txt": /not allowed|cannot contain|contains/,
};

/** Other names of one file inside. */
const INSIDE = [
  "sub/Größe 1.txt",
  "sub\\Größe 1.txt",
  "SUB\\GRÖSSE 1.TXT".replace("SS", "ß"),
  `${TOP}\\My Project\\sub\\Größe 1.txt`,
  `${TOP.toLowerCase()}\\MY PROJECT\\sub\\größe 1.txt`,
  "C:/Ünï Cödé/My Project/./sub/../sub/Größe 1.txt",
  "/c/Ünï Cödé/My Project/sub/Größe 1.txt",
  "file:///C:/%C3%9Cn%C3%AF%20C%C3%B6d%C3%A9/My%20Project/sub/Gr%C3%B6%C3%9Fe%201.txt",
];

describe("files on Windows", () => {
  let lines: readonly Line[] = [];
  const about = (what: string) => lines.filter((line) => line.about === what);

  beforeAll(async () => {
    const there = await windows();
    // Wine shows links of this system as what they lead to, as Windows does with junctions for programs that resolve them.
    const top = join(there.driveC, "Ünï Cödé");
    const root = join(top, "My Project");
    await mkdir(root, { recursive: true });
    await writeFile(join(top, "secret.txt"), "TOPSECRET");
    await symlink(join(top, "secret.txt"), join(root, "leak.txt"));
    await symlink(top, join(root, "leak"));
    const bundled = await bundledBin("filesystem");
    const installed = join(top, "npm", "node_modules", "@refmcp", "server-filesystem");
    await cp(join(bundled, "..", ".."), installed, { recursive: true });
    const bin = onZ(bundled);
    lines = await there.run("files", { bin, hostile: Object.keys(HOSTILE), inside: INSIDE });
  }, START_MS);

  it.each(Object.entries(HOSTILE))("refuses %j for reading, writing and moving", (path, why) => {
    const answers = about("hostile").filter((line) => line.path === path);
    expect(answers).toHaveLength(3);
    for (const { name, isError, text } of answers) {
      expect({ name, isError, text }).toEqual({
        name,
        isError: true,
        text: expect.stringMatching(why),
      });
      expect(text).not.toContain("TOPSECRET");
    }
  });

  it.each(INSIDE)("opens %s", (path) => {
    expect(about("inside").find((line) => line.path === path)).toMatchObject({
      isError: false,
      text: expect.stringContaining("inside"),
    });
  });

  it("keeps CRLF when it edits a file, and takes LF in what it is given", () => {
    expect(about("CRLF")).toMatchObject([{ isError: false }]);
    expect(about("CRLF file")).toMatchObject([{ text: "first\r\nzweite\r\nneu\r\ndritte\r\n" }]);
  });

  it("waits for a program that has the file open, a second at most", () => {
    // Without more attempts, a rename fails here.
    expect(about("plain rename")).toMatchObject([{ refusal: "EPERM" }]);
    expect(about("held")).toMatchObject([
      { isError: true, text: expect.stringContaining("another program has it open") },
    ]);
    expect(about("released")).toMatchObject([{ isError: false }]);
    expect(about("released file")).toMatchObject([
      { text: "erste\r\nzweite\r\nneu\r\ndritte\r\n" },
    ]);
  });

  it("writes, moves, changes the case of a name, deletes and restores", () => {
    for (const what of ["write", "move", "case", "delete", "undo"])
      expect(about(what), what).toMatchObject([{ isError: false }]);
    expect(about("undone file")).toMatchObject([{ text: "a\nb\n" }]);
    expect(about("secret")).toMatchObject([{ text: "TOPSECRET" }]);
  });

  it("takes a client's roots as file URIs with a drive", () => {
    expect(about("roots")).toHaveLength(2);
    for (const line of about("roots"))
      expect(line).toMatchObject({ isError: false, text: expect.stringContaining("inside") });
    for (const line of about("roots outside")) expect(line).toMatchObject({ isError: true });
  });

  it("starts as the entry that --print-config prints, npx through cmd", () => {
    const [{ text = "" } = {}] = about("entry");
    const args = ["/c", "npx", "-y", "@refmcp/server-filesystem", `${TOP}\\My Project`];
    expect(JSON.parse(String(text))).toEqual({
      mcpServers: { filesystem: { command: "cmd", args } },
    });
    expect(about("entry started")).toMatchObject([
      { isError: false, text: expect.stringContaining("inside") },
    ]);
  });
});

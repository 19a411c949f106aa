import {
  appendFile,
  chmod,
  link,
  mkdir,
  mkdtemp,
  open,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { docxOf } from "@refmcp/documents/testing";
import { type Connected, connectStdio, nodeBoundByPermissions } from "@refmcp/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

/** What the server promises, as a client over stdio sees it, however it is built. */

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

let top: string;
let server: Connected;
/** A directory for one test. */
let folder: string;
let count = 0;

const start = () =>
  connectStdio(BIN, {
    args: [join(top, "allowed"), "--journal-dir", join(top, "journal")],
    node: nodeBoundByPermissions(),
  });

beforeAll(async () => {
  top = await realpath(await mkdtemp(join(tmpdir(), "refmcp-filesystem-fence-")));
  await mkdir(join(top, "allowed"));
  await mkdir(join(top, "outside"));
  server = await start();
});
afterAll(async () => {
  await server?.close();
  await rm(top, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = join(top, "allowed", `test-${++count}`);
  await mkdir(folder);
});

const at = (name: string) => join(folder, name);
const read = (path: string) => readFile(path, "utf8");

/** The text of an answer, and whether it is an error. */
async function call(name: string, args: Record<string, unknown>, { client } = server) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const blocks = content as { type: string; text?: string }[];
  return { text: blocks.map(({ text }) => text ?? "").join("\n"), isError };
}
const append = (path: string, content: string, to = server) =>
  call("write_file", { path, content, mode: "append" }, to);

describe("appending", () => {
  it("loses no line of a program that holds the file open", async () => {
    await writeFile(at("app.log"), "first\n");
    const program = await open(at("app.log"), "a");
    try {
      expect(await append(at("app.log"), "ours\n")).toMatchObject({ isError: false });
      await program.write("theirs\n");
    } finally {
      await program.close();
    }
    expect(await read(at("app.log"))).toBe("first\nours\ntheirs\n");
  });

  it("loses no line of another server that appends to the same file", async () => {
    await writeFile(at("shared.log"), "");
    const second = await start();
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
    try {
      const answers = await Promise.all(
        lines.map((line, index) =>
          append(at("shared.log"), `${line}\n`, index % 2 ? server : second),
        ),
      );
      expect(answers.filter(({ isError }) => isError)).toEqual([]);
    } finally {
      await second.close();
    }
    expect((await read(at("shared.log"))).trim().split("\n").sort()).toEqual(lines.sort());
  });

  it("does not undo an append after another program has added lines", async () => {
    await writeFile(at("app.log"), "first\n");
    const { text } = await append(at("app.log"), "ours\n");
    const id = /Change ([\w-]+)/.exec(text)?.[1];
    expect(id).toBeDefined();
    await appendFile(at("app.log"), "theirs\n");
    expect(await call("undo_change", { id })).toMatchObject({ isError: true });
    expect(await read(at("app.log"))).toBe("first\nours\ntheirs\n");
  });

  // A sparse file: no block of it is written.
  it.each([10, 33 * 1024 * 1024])(
    "refuses a file of %i bytes with a second hard link, which may be outside",
    async (size) => {
      const outside = join(top, "outside", `secret-${size}`);
      await writeFile(outside, "a text\n".repeat(20_000));
      await truncate(outside, size);
      await link(outside, at("linked.txt"));
      const { text, isError } = await append(at("linked.txt"), "ESCAPED\n");
      expect(isError).toBe(true);
      expect(text).toContain("2 hard links");
      expect((await stat(outside)).size).toBe(size);
    },
  );
});

describe("a change of several files is made in all of them or in none", () => {
  const contents = () => Promise.all(["a.txt", "b.txt", "c.txt"].map((name) => read(at(name))));
  beforeEach(async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) await writeFile(at(name), "old\n");
    await chmod(at("c.txt"), 0o444);
  });

  it("by edit_file with glob", async () => {
    const edits = [{ oldText: "old", newText: "new" }];
    const { text, isError } = await call("edit_file", { path: folder, glob: "*.txt", edits });
    expect(isError).toBe(true);
    expect(text).toContain("write-protected");
    expect(await contents()).toEqual(["old\n", "old\n", "old\n"]);
  });
});

describe("a search finds text or says what it did not search", () => {
  const search = (pattern: string) => call("search_text", { path: folder, pattern });

  it("in symlinked files", async () => {
    await mkdir(at("blobs"));
    await mkdir(at("snapshot"));
    await writeFile(at("blobs/1"), "the needle\n");
    await symlink("../blobs/1", at("snapshot/model.txt"));
    const result = await call("search_text", { path: at("snapshot"), pattern: "needle" });
    expect(result.text).toContain("1:the needle");
    const link = await call("search_text", { path: at("snapshot/model.txt"), pattern: "needle" });
    expect(link.text).toContain("1:the needle");
    const named = { path: at("snapshot"), pattern: "*", type: "file" };
    expect((await call("search_files", named)).text).toContain("1 matching symlink");
  });

  it("in encoded mails of a Maildir", async () => {
    const encoded = Buffer.from("Der Schlüssel liegt im Garten.\n").toString("base64");
    const mail = [
      "Return-Path: <ada@example.org>",
      "From: Ada <ada@example.org>",
      "Subject: =?utf-8?B?R2Vow6RsdGVy?=",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
      "",
      encoded,
    ];
    await mkdir(at("new"));
    await writeFile(at("new/1764412345.M20046P2137V1.host"), mail.join("\n"));
    await writeFile(at("new/17"), mail.join("\r\n"));
    await writeFile(at("notes.txt"), "From: me\nTo: the Schlüssel\n");
    const { text } = await search("Schlüssel");
    expect(text).toContain("Der Schlüssel liegt im Garten.");
    expect(text).toContain("new/17\n");
    expect(text).toContain("notes.txt\n2:To: the Schlüssel\n");
    expect((await call("read_text_file", { path: at("new/17") })).text).toContain("Der Schlüssel");
    expect((await search("Gehälter")).text).toContain("Subject: Gehälter");
  });

  it("in rotated logs, unless they are not text", async () => {
    await writeFile(at("app.log.1.gz"), gzipSync("started\nout of memory\n"));
    await writeFile(at("image.gz"), gzipSync(Buffer.from([1, 0, 2])));
    const { text } = await search("out of memory");
    expect(text).toContain("out of memory");
    expect(text).toContain("1 document could not be read");
    const read = await call("read_text_file", { path: at("app.log.1.gz") });
    expect(read.text).toContain("started\nout of memory\n");
  });

  it("in headers, footers and comments of Word documents", async () => {
    const p = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
    const others = {
      "word/header1.xml": `<w:hdr>${p("Confidential")}</w:hdr>`,
      "word/footer1.xml": `<w:ftr>${p("Bank account 12")}</w:ftr>`,
      "word/comments.xml": `<w:comments><w:comment>${p("Is this right?")}</w:comment></w:comments>`,
    };
    await writeFile(at("letter.docx"), docxOf(p("The body"), others));
    for (const words of ["The body", "Confidential", "Bank account", "Is this right"])
      expect((await search(words)).text).toContain(words);
  });

  it("and mentions ignored files only if there are some", async () => {
    await writeFile(at("a.txt"), "text\n");
    expect((await search("needle")).text).not.toContain("gnored");
    await writeFile(at(".gitignore"), "*.log\n");
    await writeFile(at("a.log"), "needle\n");
    expect((await search("needle")).text).toContain("include_ignored=true");
  });
});

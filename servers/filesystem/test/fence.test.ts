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
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

it("changes no permission of a file with a second hard link, which may be outside", async () => {
  const outside = join(top, "outside", "program");
  await writeFile(outside, "#!/bin/sh\n");
  await chmod(outside, 0o644);
  await link(outside, at("program"));
  const patch = "diff --git a/program b/program\nold mode 100644\nnew mode 100755\n";
  const { text, isError } = await call("apply_patch", { path: folder, patch });
  expect(isError).toBe(true);
  expect(text).toContain("2 hard links");
  expect((await stat(outside)).mode & 0o777).toBe(0o644);
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

  it("by apply_patch", async () => {
    const patch = ["a.txt", "b.txt", "c.txt"]
      .map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+new\n`)
      .join("");
    const { text, isError } = await call("apply_patch", { path: folder, patch });
    expect(isError).toBe(true);
    expect(text).toContain("write-protected");
    expect(await contents()).toEqual(["old\n", "old\n", "old\n"]);
  });
});

import { expect, it, onTestFinished } from "vitest";
import type * as z from "zod";
import { type Scratch, scratch } from "../../test/scratch.ts";
import { texts, use } from "../../test/use.ts";
import editFile from "./edit-file.ts";

const edited = async (files: Scratch["files"], args: z.input<typeof editFile.input>) =>
  texts(await use(editFile, files, args)).join("");

it("edits and returns the diff, counts and how to undo it", async () => {
  const { files, at, put, read } = await scratch();
  await put("a.txt", "one\ntwo\n");
  const answer = await edited(files, {
    path: "a.txt",
    edits: [{ oldText: "two", newText: "2" }],
  });
  const diff = `--- ${at("a.txt")}\n+++ ${at("a.txt")}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n`;
  const facts = "[Replaced 1 place (1 line added, 1 removed). Hash HASH. Change ID.]";
  const stable = String(answer)
    .replace(/Hash \w{16}/, "Hash HASH")
    .replace(/\w{9}-\w{6}/, "ID");
  expect(stable).toBe(diff + facts);
  expect(await read("a.txt")).toBe("one\n2\n");
});

it("changes nothing with dryRun, and keeps a large diff within the budget", async () => {
  const { files, put, read } = await scratch();
  const content = `${'"quoted"\tword\n'.repeat(10)}\n`.repeat(1000);
  await put("a.txt", content);
  const edits = [{ oldText: "word", newText: "changed" }];
  const answer = String(
    await edited(files, { path: "a.txt", edits, dryRun: true, replace_all: true }),
  );
  expect(answer.length).toBeLessThanOrEqual(20_000);
  expect(answer).toMatch(
    /\n\[Would replace 10,000 places; nothing was changed .* hunk is not shown\. .*\]$/,
  );
  expect(await read("a.txt")).toBe(content);
});

it("edits every file that matches a glob, after a preview, all or none", async () => {
  const { files, at, put, read } = await scratch();
  await put(".gitignore", "dist/\n");
  for (const name of ["a.ts", "src/b.ts", "src/c.js", "dist/d.ts"])
    await put(name, `old("${name}");\r\n`);
  await put("e.ts", "nothing here\n");
  const request = { path: ".", glob: "*.ts", edits: [{ oldText: "old(", newText: "brandNew(" }] };
  const preview = String(await edited(files, { ...request, dryRun: true }));
  expect(preview).toContain('+brandNew("src/b.ts");');
  expect(preview).toMatch(/\n\[Would replace 2 places in 2 files; nothing was changed\.\]$/);
  expect(await read("a.ts")).toBe('old("a.ts");\r\n');

  const done = String(await edited(files, request));
  expect(done).toMatch(/\n\[Replaced 2 places in 2 files\. Change \w+-\w+\.\]$/);
  expect(done.match(/: 1 line added, 1 removed\.\n/g)).toHaveLength(2);
  expect([await read("a.ts"), await read("src/b.ts")]).toEqual([
    'brandNew("a.ts");\r\n',
    'brandNew("src/b.ts");\r\n',
  ]);
  expect([await read("src/c.js"), await read("dist/d.ts")]).toEqual([
    'old("src/c.js");\r\n',
    'old("dist/d.ts");\r\n',
  ]);

  await put("z.ts", "brandNew( brandNew(\n");
  const again = { ...request, edits: [{ oldText: "brandNew(", newText: "x(" }] };
  await expect(edited(files, again)).rejects.toThrow(/occurs 2 times in ".*z\.ts"/);
  expect(await read("a.ts")).toBe('brandNew("a.ts");\r\n');
  await expect(edited(files, request)).rejects.toThrow("No file contains oldText");
  expect(at("a.ts")).toContain("a.ts");
});

it("replaces regex matches, with groups, in one file and in many, after a preview", async () => {
  const { files, put, read } = await scratch();
  onTestFinished(() => files.close());
  await put("a.ts", "const a = require('a');\r\nlet b = require('b'); // require('c')\r\n");
  await put("b.ts", "x.require('a')\n");
  await put("c.ts", "nothing\n");
  await put("d.bin", Buffer.from([0, 1, 2]));
  const edits = [
    {
      oldText: "^(?:const|let) (?<name>\\w+) = require\\('([^']*)'\\);?",
      newText: 'import $<name> from "$2"; // $$ $9',
    },
    { oldText: ".*x\\.require.*$", newText: "[$&]" },
  ];
  const request = { path: ".", glob: "*", regex: true, edits };
  const preview = String(await edited(files, { ...request, dryRun: true, replace_all: true }));
  expect(preview).toMatch(/\n\[Would replace 3 places in 2 files; nothing was changed\.\]$/);
  expect(await read("b.ts")).toBe("x.require('a')\n");
  await expect(edited(files, request)).rejects.toThrow(
    /occurs 2 times in ".*a\.ts", at lines 1, 2/,
  );
  await edited(files, { ...request, replace_all: true });
  expect(await read("a.ts")).toBe(
    'import a from "a"; // $ $9\r\nimport b from "b"; // $ $9 // require(\'c\')\r\n',
  );
  expect(await read("b.ts")).toBe("[x.require('a')]\n");
  const single = { path: "c.ts", regex: true, edits: [{ oldText: "(\\w)othing", newText: "$1" }] };
  expect(String(await edited(files, single))).toContain("Replaced 1 place");
  expect(await read("c.ts")).toBe("n\n");
  await expect(edited(files, single)).rejects.toThrow(/matches nothing in ".*c\.ts"/);
  await expect(
    edited(files, { ...request, edits: [{ oldText: "absent\\d", newText: "" }] }),
  ).rejects.toThrow("No file contains oldText");
  await expect(
    edited(files, { ...single, edits: [{ oldText: "(", newText: "" }] }),
  ).rejects.toMatchObject({
    kind: "invalid",
    hint: expect.stringContaining("JavaScript regular expression"),
  });
});

it("matches expressions in a thread that can be terminated", async () => {
  const { files, put, read } = await scratch();
  onTestFinished(() => files.close());
  await put("a.txt", `${"a".repeat(60)}!`);
  await put("b.txt", "b!");
  const controller = new AbortController();
  const edits = [{ oldText: "(a+)+$", newText: "" }];
  const running = files.edit({
    path: "a.txt",
    edits,
    regex: true,
    replace_all: false,
    dryRun: false,
    maxChars: 1,
    signal: controller.signal,
  });
  const ended = expect(running).rejects.toThrow("taken back");
  expect(await edited(files, { path: "b.txt", edits: [{ oldText: "!", newText: "?" }] })).toContain(
    "Replaced 1",
  );
  controller.abort(new Error("taken back"));
  await ended;
  expect(await read("a.txt")).toBe(`${"a".repeat(60)}!`);
});

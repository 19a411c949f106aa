import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readToolsFile } from "./tools-file.ts";

async function read(text: string) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-tools-"));
  try {
    const path = join(folder, "tools.yaml");
    await writeFile(path, text);
    return await readToolsFile(path, {
      taken: [],
      sources: ["main"],
      check: async () => {},
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

it("reads DBHub's format", async () => {
  const parameters = [{ name: "n", type: "integer", description: "A number", default: 2 }];
  const tool = { description: "A tool of this test.", statement: "SELECT ?", parameters };
  const [one] = await read(JSON.stringify({ tools: [{ name: "one", source: "main", ...tool }] }));
  expect(one).toMatchObject({
    name: "one",
    title: "One",
    source: "main",
    names: ["n"],
    max_rows: 200,
  });
  expect(one?.input.parse({})).toEqual({ n: 2 });
  expect(one?.input.safeParse({ n: "x" }).success).toBe(false);
});

it("refuses aliases and huge files", async () => {
  const bomb = `a: &a [x]\n${["b", "c", "d"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abc"[at]}`).join(", ")}]`).join("\n")}\ntools: *d\n`;
  await expect(read(bomb)).rejects.toThrow(/it has aliases/);
  await expect(read(`tools: []\n# ${"x".repeat(1_100_000)}`)).rejects.toThrow(/larger than 1 MiB/);
  await expect(read("tools:\n  - { name: a, name: b }")).rejects.toThrow(/line 2.*unique/);
});

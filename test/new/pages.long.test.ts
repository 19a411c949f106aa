import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../servers.ts";
import { type Clone, cloneWorkspace } from "./clone.ts";

/** Long enough for an installation and all tests of a server on a slow machine. */
const LONG = 1_800_000;
const SERVER = "servers/dictionary";
let clone: Clone;
let changed: string[] = [];

/** The shell commands of a page, in order, each with its comment. */
async function commandsOf(page: string): Promise<{ command: string; comment: string }[]> {
  const text = await readFile(join(ROOT, "docs", page), "utf8");
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  return blocks
    .flatMap((code) => code.split("\n"))
    .map((line) => line.split(/\s+#\s*/))
    .map(([command = "", comment = ""]) => ({ command: command.trim(), comment }))
    .filter(({ command }) => command !== "");
}

/** Runs a page's commands as a person would type them, in the folders that it names. */
async function follow(page: string): Promise<void> {
  let folder = ".";
  for (const { command, comment } of await commandsOf(page)) {
    const [, to] = /^cd (\S+)$/.exec(command) ?? [];
    if (to !== undefined) {
      folder = join(folder, to);
      continue;
    }
    if (comment.startsWith("at the root")) folder = ".";
    else if (comment.startsWith("in the server's folder")) folder = SERVER;
    await clone.run(folder, "sh", "-c", command);
    if (command.includes(" new server ")) changed = await clone.status();
  }
}

/** Writes the files of a page into the server, and its lines for the fixture. */
async function write(page: string): Promise<void> {
  const text = await readFile(join(ROOT, "docs", page), "utf8");
  for (const [, code = ""] of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    const [, file] = /^\/\/ (src\/\S+)\n/.exec(code) ?? [];
    const path = join(clone.root, SERVER, file ?? "test/fixture.ts");
    const fixture = file === undefined ? await readFile(path, "utf8") : "";
    await writeFile(path, file === undefined ? fixture.replace("calls: {", `$&\n${code}`) : code);
  }
}

beforeAll(async () => {
  clone = await cloneWorkspace();
  await follow("add-a-server.md");
  await write("add-a-tool.md");
  await follow("add-a-tool.md");
}, LONG);
afterAll(() => clone?.dispose());

// Windows has no sh; the pages say the same commands for it.
it.skipIf(process.platform === "win32")("both pages work as written", async () => {
  const surface = await readFile(join(clone.root, SERVER, "test", "surface.txt"), "utf8");
  expect(surface).toContain("dictionary_count");
});

it("every file that the page says to replace is there", async () => {
  const text = await readFile(join(ROOT, "docs", "add-a-server.md"), "utf8");
  const rows = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, file = ""]) => file);
  const files = rows.filter((file) => !file.startsWith("@"));
  expect(files.length).toBeGreaterThanOrEqual(9);
  for (const file of files) expect(existsSync(join(clone.root, SERVER, file)), file).toBe(true);
});

it("git shows what the page says: the folder, the changeset, the lockfile and what is generated for all servers", () => {
  // Of docs, the clone tracks docs/hosts.md only: the other pages are new in it.
  expect(changed.filter((line) => !line.endsWith(".md"))).toEqual([
    " M pnpm-lock.yaml",
    "?? .changeset/",
    "?? servers/",
  ]);
  expect(changed).toContain(" M README.md");
});

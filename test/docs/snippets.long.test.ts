import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIBRARIES, ROOT } from "../servers.ts";

const execute = promisify(execFile);
/** Pages whose blocks are independent, each a complete file. */
const ALONE = ["packages/core/README.md"];

interface Snippet {
  readonly page: string;
  /** `src/server.ts`, from the block's first line; absent if it has none. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The TypeScript blocks of a page. */
async function snippetsOf(page: string): Promise<Snippet[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => ({
    page,
    file: /^\/\/ ([\w./-]+\.ts)\n/.exec(code)?.[1],
    text: code,
  }));
}

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-snippets-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A package outside this workspace, set up like a server's package. */
async function project(
  name: string,
  snippets: readonly { file: string; text: string }[],
): Promise<string> {
  const place = join(folder, name);
  const installed = {
    ...Object.fromEntries(LIBRARIES.map((name) => [`@refmcp/${name}`, `packages/${name}`])),
    "@types/node": "node_modules/@types/node",
    vitest: "test/node_modules/vitest",
    zod: "test/node_modules/zod",
  };
  for (const [dependency, target] of Object.entries(installed)) {
    const link = join(place, "node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, target), link, "junction");
  }
  await writeFile(
    join(place, "package.json"),
    '{ "name": "dictionary", "version": "1.0.0", "type": "module" }',
  );
  const tsconfig = { extends: join(ROOT, "tsconfig.base.json"), include: ["**/*.ts"] };
  await writeFile(join(place, "tsconfig.json"), JSON.stringify(tsconfig));
  for (const { file, text } of snippets) {
    await mkdir(dirname(join(place, file)), { recursive: true });
    await writeFile(join(place, file), text);
  }
  return place;
}

/** The compiler's messages about a package; empty if it is correct. */
async function mistakes(place: string): Promise<string> {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  return execute(process.execPath, [tsc, "-p", "tsconfig.json"], { cwd: place }).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe("the snippets of the documentation", () => {
  it("of core's README compile", async () => {
    const snippets = (await Promise.all(ALONE.map(snippetsOf))).flat();
    expect(snippets.length).toBeGreaterThan(0);
    // A program's block begins with #!, which is valid only in the first line of a file.
    const files = snippets.map(({ text }, index) => ({ file: `snippet-${index}.ts`, text }));
    expect(await mistakes(await project("alone", files))).toBe("");
  });

  it("would not compile with a mistake in them", async () => {
    const [first] = await snippetsOf("packages/core/README.md");
    if (first === undefined) throw new Error("the page has no block");
    const text = first.text.replace('effect: "read"', 'effect: "look"');
    expect(text).not.toBe(first.text);
    expect(await mistakes(await project("mistake", [{ file: "snippet.ts", text }]))).toContain(
      "look",
    );
  });
});

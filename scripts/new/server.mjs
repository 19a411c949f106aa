// Creates a server from scripts/templates/server, a complete server named "sample".
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { indexFolders } from "../generate/index-files.mjs";
import { install, ROOT, serverNames } from "../lib/setup.mjs";
import { bundle, format, generate, test, typecheck } from "./gate.mjs";

/** An invalid name; the message is for the person who typed it. */
export class NameError extends Error {}

const SERVERS = join(ROOT, "servers");
const TEMPLATE = join(ROOT, "scripts", "templates", "server");

const TO_REPLACE = [
  ["package.json", '"description": what the server is for, in one sentence'],
  ["src/sample/", "what it does (source.ts, page.ts)"],
  ["src/options.ts", "what the user can set"],
  ["src/server.ts", "instructions: what the model should know about all tools together"],
  ["src/tools/sample-find.ts", "the tool, and its test next to it"],
  ["test/fixture.ts", "the data of the tests, and one good call of each tool"],
  ["evals/tasks.ts", "three tasks that a person would give"],
  ["demo.mjs, README.md", "two calls to show; the first lines and Safety"],
];

/**
 * Makes `servers/<name>` and a changeset, installs, and runs the server's tests.
 *
 * @param {string} name
 * @throws {NameError} for a name that cannot be used; nothing is written then.
 */
export async function newServer(name) {
  checkServerName(name);
  const folder = join(SERVERS, name);
  await writeServer(name, folder);
  await mkdir(join(ROOT, ".changeset"), { recursive: true });
  const changeset = `---\n"@refmcp/server-${name}": minor\n---\n\nNew server: ${name}.\n`;
  await writeFile(join(ROOT, ".changeset", `new-server-${name}.md`), changeset);
  await install({ frozen: false });
  await format(folder);
  await bundle(folder);
  await typecheck(folder);
  await test(folder);
  await generate();
  process.stderr.write(`
servers/${name} works: the tool ${name}_find looks for notes, and all tests pass. Replace the example, in this order:
${TO_REPLACE.map(([file = "", what]) => `  ${file.replaceAll("sample", name).padEnd(24 + name.length)} ${what}\n`).join("")}
The rest needs no change. test/attacks.test.ts covers the tools that you add; add the attacks that only your server has.

In servers/${name}, after each change:
  node ../../scripts/bundle.mjs && npx vitest run
At the root, for the server's whole check:
  npm test -- --filter=@refmcp/server-${name}
docs/add-a-server.md explains each step, and what CI asks for; docs/add-a-tool.md, how to add a tool.
`);
}

/**
 * Writes all files at once: a folder that exists is complete.
 *
 * @param {string} name @param {string} folder
 */
async function writeServer(name, folder) {
  const { version } = JSON.parse(
    await readFile(join(ROOT, "packages", "core", "package.json"), "utf8"),
  );
  const draft = join(SERVERS, `.${name}.new`);
  /** @param {string} text */
  const replaced = (text) =>
    text
      .replaceAll("sample", name)
      .replaceAll("Sample", titleOf(name))
      .replaceAll("SAMPLE", name.toUpperCase());
  try {
    for (const entry of await readdir(TEMPLATE, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const source = join(entry.parentPath, entry.name);
      const target = join(draft, replaced(relative(TEMPLATE, source)));
      const text = replaced(await readFile(source, "utf8"));
      await mkdir(dirname(target), { recursive: true });
      // All packages have one version.
      await writeFile(
        target,
        entry.name === "package.json"
          ? text.replace('"version": "0.1.0"', `"version": "${version}"`)
          : text,
      );
    }
    await indexFolders(draft, (file, text) => writeFile(file, text));
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Checks the name of a new server.
 *
 * @param {string} name
 * @throws {NameError} if hosts would not accept it, or if it already exists.
 */
function checkServerName(name) {
  if (!/^[a-z]{2,20}$/.test(name))
    throw new NameError(
      `"${name}" cannot name a server: use 2 to 20 letters a to z, as in "weather" (hosts make tool names of it).`,
    );
  if (["sample", "core", "tools", "resources", "prompts"].includes(name))
    throw new NameError(`"${name}" is reserved; choose another name.`);
  if (existsSync(join(SERVERS, name)) && !serverNames().includes(name))
    throw new NameError(
      `servers/${name} has no package.json: another branch left it behind. Delete the folder, then try again.`,
    );
  if (existsSync(join(SERVERS, name)))
    throw new NameError(
      `servers/${name} already exists. docs/add-a-tool.md says how to add a tool to it.`,
    );
}

/** weather → Weather, for people. @param {string} name */
function titleOf(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

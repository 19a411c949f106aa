// Creates a server from scripts/templates/server and the files of its kind in scripts/templates/kinds: together a complete
// server named "sample".
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { indexFolders } from "../generate/index-files.mjs";
import { install, ROOT } from "../lib/setup.mjs";
import { bundle, format, generate, test, typecheck } from "./gate.mjs";
import { checkServerName, NameError, SERVERS, titleOf } from "./names.mjs";

const TEMPLATES = join(ROOT, "scripts", "templates");
const DEFAULT_KIND = "files";

export const KINDS = {
  files: "reads files, in the directories that the user allows (the default)",
  web: "reads a web API, over core's HTTP client, which refuses private addresses",
  database: "reads a SQLite file",
};

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
 * @param {string} [given] one of `KINDS`
 * @throws {NameError} for a name or kind that cannot be used; nothing is written then.
 */
export async function newServer(name, given) {
  checkServerName(name);
  const kind = given ?? DEFAULT_KIND;
  const kinds = Object.keys(KINDS);
  if (!kinds.includes(kind))
    throw new NameError(`There is no kind "${kind}". Kinds: ${kinds.join(", ")}.`);
  if (given === undefined)
    process.stderr.write(`--kind ${kind}; the others are ${kinds.slice(1).join(" and ")}.\n`);
  await install();
  const folder = join(SERVERS, name);
  await writeServer(name, kind, folder);
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
At the root, to add a tool, and for the server's whole check:
  npx -y pnpm@10.34.9 new tool ${name} ${name}_NAME
  npm test -- --filter=@refmcp/server-${name}
docs/add-a-server.md explains each step, and what CI asks for.
`);
}

/**
 * Writes all files at once: a folder that exists is complete.
 *
 * @param {string} name @param {string} kind @param {string} folder
 */
async function writeServer(name, kind, folder) {
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
    // Files of the kind replace the common ones.
    for (const template of [join(TEMPLATES, "server"), join(TEMPLATES, "kinds", kind)])
      for (const entry of await readdir(template, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const source = join(entry.parentPath, entry.name);
        const target = join(draft, replaced(relative(template, source)));
        const text = replaced(await readFile(source, "utf8"));
        await mkdir(dirname(target), { recursive: true });
        await writeFile(
          target,
          entry.name === "package.json" ? await manifest(target, text, version) : text,
        );
      }
    await indexFolders(draft, (file, text) => writeFile(file, text));
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * The common manifest with the additions of the kind. All packages have one version.
 *
 * @param {string} target @param {string} text @param {string} version
 */
async function manifest(target, text, version) {
  const before = JSON.parse(await readFile(target, "utf8").catch(() => "{}"));
  const { devDependencies, ...own } = JSON.parse(text);
  const all = {
    ...before,
    ...own,
    version,
    devDependencies: { ...before.devDependencies, ...devDependencies },
  };
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

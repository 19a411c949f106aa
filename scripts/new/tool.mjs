// Creates a tool from scripts/templates/tool, a complete tool named "sample_tool".
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { indexFolders } from "../generate/index-files.mjs";
import { defaultTools } from "../generate/surface.mjs";
import { command } from "../lib/bench-kit.mjs";
import { install, ROOT } from "../lib/setup.mjs";
import { bundle, format, generate, test } from "./gate.mjs";
import { checkToolName, fileName, NameError, SERVERS, titleOf } from "./names.mjs";

/** @typedef {(file: string, text: string, options?: { flag: string }) => Promise<void>} Write */
/** @typedef {import("../generate/surface.mjs").Described} Described */

const TEMPLATE = join(ROOT, "scripts", "templates", "tool");
/** The contract's limit for the tools that a server offers by default. */
const MAX_DEFAULT_TOOLS = 20;
/** The toolset that a server gets if its default tools are at the limit and it has no other toolset. */
const EXTRA = "extra";
/** What ends this process from outside. */
const STOPS = ["SIGINT", "SIGTERM"];

/**
 * `addTool`, then the pages, with what to do next.
 *
 * @param {string} server
 * @param {string} tool
 * @param {string} [given] the toolset
 * @throws {NameError} for names that cannot be used; nothing is written then.
 */
export async function newTool(server, tool, given) {
  const { fixture, file, toolset } = await addTool(server, tool, given);
  await generate();
  process.stderr.write(
    [
      `\n${tool} works: it counts the words of a text, and all tests pass. Replace the example:`,
      `  servers/${server}/${file}.ts    what it takes, returns and does; its test next to it`,
      `  servers/${server}/test/${fixture}    one good call of it (calls), one that fails as it should (failures)`,
      `  servers/${server}/evals/tasks.ts     a task that needs it`,
      `  cd servers/${server} && node ../../scripts/bundle.mjs && npx vitest run    after each change`,
      ...(toolset === undefined
        ? []
        : [`It is in the toolset "${toolset}". --toolset NAME chooses another one.`]),
      "  docs/add-a-tool.md says how.\n",
    ].join("\n"),
  );
}

/**
 * Creates a tool with its test and snapshots, adds it to the folder's index and the fixture, and runs its tests and the
 * contract.
 *
 * @param {string} server
 * @param {string} tool
 * @param {string} [given] the toolset; by default the first with room for it
 * @returns {Promise<{ fixture: string, file: string, toolset: string | undefined }>} the file in `test/` with the tool's good
 * call, and the tool's own, without `.ts`
 * @throws {NameError} for names that cannot be used; nothing is written then.
 */
export async function addTool(server, tool, given) {
  await checkToolName(server, tool);
  const folder = join(SERVERS, server);
  const fixture = await fixtureWith(folder, tool);
  await install();
  await bundle(folder);
  const described = await describe(folder);
  const toolset = toolsetOf(described, given ?? (await askedToolset(described)));
  const subfolder = (await hasFolders(join(folder, "src", "tools"))) ? toolset : undefined;
  const own = ["src", "tools", ...(subfolder === undefined ? [] : [subfolder])].join("/");
  const file = `${own}/${fileName(tool)}`;
  const undo = undoing(join(folder, own));
  /** @type {Write} */
  const write = async (file, text, options) => {
    if (undo.remember(file) === text) return;
    await writeFile(file, text, options);
  };
  for (const file of ["surface.txt", "answers.txt"]) undo.remember(join(folder, "test", file));
  for (const name of await readdir(TEMPLATE)) {
    const text = (await readFile(join(TEMPLATE, name), "utf8"))
      .replaceAll("sample_tool", tool)
      .replaceAll("Sample tool", titleOf(tool))
      .replace("test/fixture.ts", `test/${fixture.name}`)
      .replace(/^( *)effect: /m, toolset === undefined ? "$&" : `$1toolset: "${toolset}",\n$&`)
      .replaceAll(/from "\.\.\//g, subfolder === undefined ? "$&" : "$&../");
    const target = join(folder, own, name.replace("sample-tool", fileName(tool)));
    await write(target, text, { flag: "wx" });
  }
  await write(fixture.file, fixture.text);
  if (toolset === EXTRA) await addExtraToolset(join(folder, "src", "server.ts"), write);
  await indexFolders(folder, write);
  await format(join(folder, "src", "tools"), fixture.file);
  await bundle(folder);
  await test(folder, `${file}.test.ts`, "test/contract.test.ts");
  undo.keep();
  return { fixture: fixture.name, file, toolset };
}

/**
 * Restores files when the process ends, unless they are kept: a step that fails ends it, and so do Ctrl+C and a signal.
 *
 * @param {string} created a folder that is removed if it did not exist
 */
function undoing(created) {
  /** @type {Map<string, string | undefined>} */
  const before = new Map();
  const isNew = !existsSync(created);
  if (isNew) mkdirSync(created, { recursive: true });
  const restore = () => {
    for (const [file, text] of before) {
      if (text === undefined) rmSync(file, { force: true });
      else writeFileSync(file, text);
    }
    if (isNew) rmSync(created, { recursive: true, force: true });
    process.stderr.write("\nNothing was added: what had been written was removed again.\n");
  };
  const stop = () => process.exit(1);
  process.once("exit", restore);
  for (const signal of STOPS) process.once(signal, stop);
  return {
    /** Notes what a file contains before it is written, and returns that. @param {string} file */
    remember(file) {
      const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
      if (!before.has(file)) before.set(file, text);
      return text;
    },
    keep() {
      process.off("exit", restore);
      for (const signal of STOPS) process.off(signal, stop);
    },
  };
}

/** Whether a server's tools are in folders, one for each toolset. @param {string} tools */
async function hasFolders(tools) {
  return (await readdir(tools, { withFileTypes: true })).some((entry) => entry.isDirectory());
}

/** What a built server offers. @type {(folder: string) => Promise<Described>} */
async function describe(folder) {
  return JSON.parse(
    await command(process.execPath, [join(folder, "dist", "bin.js"), "--describe"]),
  );
}

/** Asks for the toolset at a terminal, where the server has several. @param {Described} server */
async function askedToolset(server) {
  const sets = Object.entries(server.toolsets ?? {});
  if (sets.length < 2 || !process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  for (const [name, { description }] of sets)
    process.stderr.write(`  ${name.padEnd(10)} ${description}\n`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`Toolset (${toolsetOf(server, undefined)}): `);
  asking.close();
  return answer.trim() || undefined;
}

/**
 * The toolset for a new tool: undefined if the server needs none.
 *
 * @param {Described} server
 * @param {string | undefined} given
 * @throws {NameError} for a toolset that the server does not have.
 */
function toolsetOf({ tools, toolsets = {} }, given) {
  const names = Object.keys(toolsets);
  if (given !== undefined) {
    if (names.includes(given)) return given;
    const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
    throw new NameError(`The server has no toolset "${given}": ${known}.`);
  }
  const isFull = defaultTools({ tools, toolsets }).length >= MAX_DEFAULT_TOOLS;
  if (isFull) return names.find((name) => !toolsets[name]?.default) ?? EXTRA;
  // A server whose default tools are in no toolset needs none.
  return tools.some(({ toolset }) => toolset === undefined)
    ? undefined
    : names.find((name) => toolsets[name]?.default);
}

/**
 * Adds the toolset `extra`, which is off by default, to a server that does not have it.
 *
 * @param {string} file @param {Write} write
 */
async function addExtraToolset(file, write) {
  const text = await readFile(file, "utf8");
  if (text.includes(`    ${EXTRA}: {`)) return;
  const entry = `    ${EXTRA}: { description: "Less common tools.", default: false },\n`;
  const added = /^ {2}toolsets: \{\n/m.test(text)
    ? text.replace(/^( {2}toolsets: \{\n(?: {4}.*\n)*)/m, `$1${entry}`)
    : text.replace(/^ {2}tools,\n/m, `  toolsets: {\n${entry}  },\n$&`);
  await write(file, added);
}

/**
 * The file in `test/` that lists one good call of each tool, with one of the new tool.
 *
 * @param {string} folder @param {string} tool
 */
async function fixtureWith(folder, tool) {
  const call = `${tool}: { text: "A line.\\nAnother one." },`;
  for (const name of (await readdir(join(folder, "test"))).filter((one) => one.endsWith(".ts"))) {
    const file = join(folder, "test", name);
    const text = await readFile(file, "utf8");
    const found = /^(\s*)calls: \{[ \t]*$/m.exec(text);
    if (found === null) continue;
    const end = found.index + found[0].length;
    return { file, name, text: `${text.slice(0, end)}\n${found[1]}  ${call}${text.slice(end)}` };
  }
  throw new NameError(
    `No file in ${join(folder, "test")} has a line "calls: {" to add the tool's good call after. Add: ${call}`,
  );
}

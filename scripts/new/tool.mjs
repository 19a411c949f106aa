// Creates a tool from scripts/templates/tool, a complete tool named "sample_tool".
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { indexFolders } from "../generate/index-files.mjs";
import { install, ROOT } from "../lib/setup.mjs";
import { bundle, format, generate, test } from "./gate.mjs";
import { checkToolName, fileName, NameError, SERVERS, titleOf } from "./names.mjs";

const TEMPLATE = join(ROOT, "scripts", "templates", "tool");

/**
 * Creates a tool with its test and snapshots, and adds it to the folder's index and the fixture.
 *
 * @param {string} server
 * @param {string} tool
 * @throws {NameError} for names that cannot be used; nothing is written then.
 */
export async function newTool(server, tool) {
  await checkToolName(server, tool);
  const folder = join(SERVERS, server);
  const fixture = await fixtureWith(folder, tool);
  await install();
  for (const file of await readdir(TEMPLATE)) {
    const text = (await readFile(join(TEMPLATE, file), "utf8"))
      .replaceAll("sample_tool", tool)
      .replaceAll("Sample tool", titleOf(tool));
    const target = join(folder, "src", "tools", file.replace("sample-tool", fileName(tool)));
    await writeFile(target, text, { flag: "wx" });
  }
  await writeFile(fixture.file, fixture.text);
  await indexFolders(folder, (file, text) => writeFile(file, text));
  await format(join(folder, "src", "tools"), fixture.file);
  await bundle(folder);
  await test(folder, `src/tools/${fileName(tool)}.test.ts`, "test/contract.test.ts");
  await generate();
  process.stderr.write(
    [
      `\n${tool} works: it counts the words of a text, and all tests pass. Replace the example:`,
      `  servers/${server}/src/tools/${fileName(tool)}.ts    what it takes, returns and does; its test next to it`,
      `  servers/${server}/test/fixture.ts    one good call of it (calls), one that fails as it should (failures)`,
      `  servers/${server}/evals/tasks.ts     a task that needs it`,
      `  cd servers/${server} && node ../../scripts/bundle.mjs && npx vitest run    after each change`,
      "  docs/add-a-tool.md says how.\n",
    ].join("\n"),
  );
}

/** The fixture with one good call of the tool. */
async function fixtureWith(folder, tool) {
  const file = join(folder, "test", "fixture.ts");
  const text = await readFile(file, "utf8");
  const call = `${tool}: { text: "A line.\\nAnother one." },`;
  const found = /^(\s*)calls: \{[ \t]*$/m.exec(text);
  if (found === null)
    throw new NameError(`${file} has no line "calls: {" to enter the tool's good call after. Add: ${call}`);
  const end = found.index + found[0].length;
  return { file, text: `${text.slice(0, end)}\n${found[1]}  ${call}${text.slice(end)}` };
}

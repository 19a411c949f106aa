// `node scripts/official.mjs`: records the tools and answers of the official servers on npm, compares our answers with them, and
// writes scripts/generate/official/*.json. The lists of the Python servers there come from their public sources by hand; for
// them only the comparison is updated. Needs the network, unlike the pages and tests.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command, peers } from "./lib/bench-kit.mjs";
import { ask, COMPARED, compareAnswers } from "./lib/official.mjs";
import { build, install, ROOT } from "./lib/setup.mjs";

const FOLDER = join(ROOT, "scripts", "generate", "official");
const TYPES = ["integer", "number"];

await install();
await build();
for (const name of COMPARED) {
  const file = join(FOLDER, `${name}.json`);
  let facts = JSON.parse(await readFile(file, "utf8"));
  if (facts.registry === "npm") facts = await recorded(facts);
  const { results } = await ask(name, join(ROOT, "servers", name, "dist", "bin.js"));
  for (const tool of facts.tools) tool.compared = compareAnswers(tool.answer, results[tool.name]);
  await writeFile(file, `${JSON.stringify(facts, undefined, 2)}\n`);
}
await command("npx", ["biome", "check", "--write", FOLDER], { cwd: ROOT });

/** The newest version's tools and answers. */
async function recorded({ name, ...facts }) {
  const version = (await command("npm", ["view", name, "version"])).trim();
  const bin = (await peers({ [name]: version }))(`${name}/dist/index.js`);
  const { tools, results } = await ask(facts.server, bin);
  return {
    ...facts,
    name,
    version,
    date: new Date().toISOString().slice(0, 10),
    tools: tools.map((tool) => ({
      name: tool.name,
      input: inputOf(tool.inputSchema),
      required: tool.inputSchema.required ?? [],
      answer: results[tool.name],
    })),
  };
}

/** A tool's parameters with their types, an integer being a number. */
function inputOf({ properties = {} }) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, TYPES.includes(type) ? "number" : type]),
  );
}

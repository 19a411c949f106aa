// `node scripts/official.mjs`: records the tools and answers of the official servers on npm, compares our answers with them, and
// writes scripts/generate/official/*.json. The lists of the Python servers there come from their public sources by hand; for
// them only the comparison is updated. Needs the network, unlike the pages and tests.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command, peers } from "./lib/bench-kit.mjs";
import { ask, COMPARED, compareAnswers } from "./lib/official.mjs";
import { build, install, ROOT } from "./lib/setup.mjs";

const FOLDER = join(ROOT, "scripts", "generate", "official");
/** @typedef {import("./generate/compatibility.mjs").Facts} Facts */

await install();
await build();
for (const name of COMPARED) {
  const file = join(FOLDER, `${name}.json`);
  /** @type {Facts} */
  let facts = JSON.parse(await readFile(file, "utf8"));
  if (facts.registry === "npm") facts = await recorded(facts);
  const { results } = await ask(name, join(ROOT, "servers", name, "dist", "bin.js"));
  for (const tool of facts.tools) {
    const ours = results[tool.name];
    if (tool.answer === undefined || ours === undefined)
      throw new Error(`${name}: ${tool.name} was not called.`);
    tool.compared = compareAnswers(tool.answer, ours);
  }
  await writeFile(file, `${JSON.stringify(facts, undefined, 2)}\n`);
}
await command("npx", ["biome", "check", "--write", FOLDER], { cwd: ROOT });

/** The newest version's tools and answers. @type {(facts: Facts) => Promise<Facts>} */
async function recorded({ name, ...facts }) {
  const version = (await command("npm", ["view", name, "version"])).trim();
  const bin = (await peers({ [name]: version }))(`${name}/dist/index.js`);
  const { tools, results } = await ask(facts.server, bin);
  return {
    ...facts,
    name,
    version,
    date: new Date().toISOString().slice(0, 10),
    tools: tools.map(({ name, inputSchema: { properties = {}, required = [] } }) => ({
      name,
      // An integer counts as a number.
      input: Object.fromEntries(
        Object.entries(properties).map(([key, { type }]) => [
          key,
          type === "integer" ? "number" : type,
        ]),
      ),
      required,
      ...(results[name] && { answer: results[name] }),
    })),
  };
}

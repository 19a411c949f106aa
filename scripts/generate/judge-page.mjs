// The generated parts of docs/judge.md: how to run it, its options and its rules.
import { importSource } from "../lib/sources.mjs";
import { fenced } from "./markdown.mjs";

/** @param {import("./surface.mjs").State} state @returns {Promise<Record<string, string>>} */
export async function judgeParts({ published }) {
  const { HELP } = await importSource("packages/testing/src/judge/cli.ts");
  const { rulesTable } = await importSource("packages/testing/src/judge/rules.ts");
  const program = published
    ? "npx -y --package @refmcp/testing refmcp-judge"
    : "node packages/testing/dist/judge/bin.js";
  const command = fenced(
    "sh",
    `${program} -- node path/to/your/server.js\n${program} https://example.com/mcp`,
  );
  return {
    command: published
      ? command
      : `Not published to npm yet: after \`npm start\` in a clone of this repository, run\n\n${command}`,
    options: fenced("text", HELP),
    rules: rulesTable(),
  };
}

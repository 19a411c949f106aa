// The generated parts of docs/judge.md: how to run it, its options, its rules, and the recorded figures.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { importSource } from "../lib/sources.mjs";
import { fenced, table } from "./markdown.mjs";

/** Recorded by `node scripts/judge-figures.mjs`. */
export const FIGURES = join(ROOT, "scripts", "generate", "judge-figures.json");

/** @typedef {{ name: string, version: string, eras: string[], errors: number, warnings: number, notes: number, tools: number, tokens: number, blockedMs: number, peakMb: number, answerBytes: number, broken: string[] }} Figure */

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
    figures: figuresTable(JSON.parse(await readFile(FIGURES, "utf8"))),
  };
}

/** @param {Figure[]} figures */
function figuresTable(figures) {
  const columns = [
    "Server",
    "Revisions",
    "Errors",
    "Warnings",
    "Notes",
    "Tools",
    "Tokens",
    "Blocked, ms",
    "Peak, MB",
    "Largest answer, bytes",
    "Rules with errors and warnings",
  ];
  /** @param {number} value */
  const number = (value) => Math.round(value).toLocaleString("en");
  const rows = figures.map((one) => [
    `${one.name} ${one.version}`,
    one.eras.join(", "),
    number(one.errors),
    number(one.warnings),
    number(one.notes),
    number(one.tools),
    number(one.tokens),
    number(one.blockedMs),
    number(one.peakMb),
    number(one.answerBytes),
    one.broken.map((rule) => `\`${rule}\``).join(" ") || "none",
  ]);
  return table(columns, rows);
}

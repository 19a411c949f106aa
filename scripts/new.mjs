// `pnpm new server NAME --kind KIND` makes a whole server: every required file, one working tool, its tests, a changeset.
// `pnpm new tool SERVER NAME` makes one tool with its test, in an existing server.
// Both end with the tests of what they made, so that the first thing you see is green.
import { parseArgs } from "node:util";
import { NameError } from "./new/names.mjs";
import { KINDS, newServer } from "./new/server.mjs";
import { newTool } from "./new/tool.mjs";

const USAGE = `Usage:
  pnpm new server NAME [--kind KIND]   for example: pnpm new server weather --kind web
  pnpm new tool SERVER NAME [--toolset TOOLSET]
                                       for example: pnpm new tool weather weather_forecast

Kinds of servers:
${Object.entries(KINDS)
  .map(([kind, what]) => `  ${kind.padEnd(10)} ${what}\n`)
  .join("")}`;

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { kind: { type: "string" }, toolset: { type: "string" }, help: { type: "boolean" } },
  });
  const [what, server = "", tool = ""] = positionals;
  const given = values.help ? "" : `${what} ${positionals.length - 1}`;
  if (given === "server 1") await newServer(server, values.kind);
  else if (given === "tool 2") await newTool(server, tool, values.toolset);
  else {
    process.stderr.write(USAGE);
    process.exitCode = values.help ? 0 : 2;
  }
} catch (thrown) {
  const error = /** @type {NodeJS.ErrnoException} */ (thrown);
  // Wrong input gets a message; anything else is a bug and keeps its stack.
  const isTyped = error instanceof NameError || String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isTyped) throw error;
  process.stderr.write(`${error.message}\n${error instanceof NameError ? "" : USAGE}`);
  process.exitCode = 2;
}

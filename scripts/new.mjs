// `pnpm new server NAME` makes a whole server: every room, one working tool, its tests, a changeset.
// `pnpm new tool SERVER NAME` makes one tool with its test, in a server that is there.
// Both end with the tests of what they made, so that the first thing you see is green.
import { NameError } from "./new/names.mjs";
import { newServer } from "./new/server.mjs";
import { newTool } from "./new/tool.mjs";

const USAGE = `Usage:
  pnpm new server NAME         for example: pnpm new server weather
  pnpm new tool SERVER NAME    for example: pnpm new tool weather weather_forecast
`;

const [kind, ...names] = process.argv.slice(2);
try {
  if (kind === "server" && names.length === 1) await newServer(names[0]);
  else if (kind === "tool" && names.length === 2) await newTool(names[0], names[1]);
  else {
    process.stderr.write(USAGE);
    process.exitCode = kind === "--help" ? 0 : 2;
  }
} catch (error) {
  // A name that cannot be used is the caller's to correct; everything else is a fault with its stack.
  if (!(error instanceof NameError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

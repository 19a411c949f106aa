import { pathToFileURL } from "node:url";
import { binOf, SERVER_NAMES } from "./catalog.ts";

const [first = "", ...rest] = process.argv.slice(2);

/** The commands that are not the name of a server. Each is loaded only when it is used. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  setup: () => import("./setup/index.ts").then(({ runSetup }) => runSetup(rest)).then(exitWith),
  doctor: () => import("./setup/index.ts").then(({ runDoctor }) => runDoctor(rest)).then(exitWith),
};

function exitWith(code: number): void {
  process.exitCode = code;
}

const server = SERVER_NAMES.find((name) => name === first);
const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
if (server !== undefined) {
  // The server sees the command line as if it had been started itself.
  process.argv.splice(1, 2, binOf(server));
  // The server itself prints only the common form of its entry.
  if (rest.some((word) => /^--print-config(?:=|$)/.test(word)))
    await import("./print-entry.ts").then(({ printEntry }) => printEntry(server, rest));
  else await import(pathToFileURL(binOf(server)).href);
} else if (command !== undefined) await command();
else await import("./serve.ts").then(({ serve }) => serve(process.argv.slice(2)));

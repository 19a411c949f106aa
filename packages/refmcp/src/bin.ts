import { pathToFileURL } from "node:url";
import { protectStdout } from "@refmcp/core/internal/transport/stdio/stdio";
import { binOf, SERVER_NAMES } from "./catalog.ts";

const stdout = protectStdout();
const [first = "", ...rest] = process.argv.slice(2);

/** The commands that are not a server's name. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  judge: () => import("./judge.ts").then(({ judge }) => judge(rest, stdout)),
};

const server = SERVER_NAMES.find((name) => name === first);
const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
if (server !== undefined) {
  // The server sees the command line as if it had been started itself.
  process.argv.splice(1, 2, binOf(server));
  await import(pathToFileURL(binOf(server)).href);
} else if (command !== undefined) await command();
else await import("./serve.ts").then(({ serve }) => serve(process.argv.slice(2), stdout));

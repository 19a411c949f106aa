import { pathToFileURL } from "node:url";
import { binOf, SERVER_NAMES } from "./catalog.ts";

const [first = "", ...rest] = process.argv.slice(2);

const server = SERVER_NAMES.find((name) => name === first);
if (server !== undefined) {
  // The server sees the command line as if it had been started itself.
  process.argv.splice(1, 2, binOf(server));
  // The server itself prints only the common form of its entry.
  if (rest.some((word) => /^--print-config(?:=|$)/.test(word)))
    await import("./print-entry.ts").then(({ printEntry }) => printEntry(server, rest));
  else await import(pathToFileURL(binOf(server)).href);
} else if (first === "setup") {
  const { runSetup } = await import("./setup/setup.ts");
  process.exitCode = await runSetup(rest);
} else await import("./serve.ts").then(({ serve }) => serve(process.argv.slice(2)));

// `pnpm new server NAME` makes a whole server: every required file, one working tool, its tests, a changeset. It ends with the
// tests of what it made, so that the first thing you see is green.
import { NameError, newServer } from "./new/server.mjs";

const [what, name, ...more] = process.argv.slice(2);
try {
  if (what === "server" && name !== undefined && more.length === 0) await newServer(name);
  else {
    process.stderr.write("Usage: pnpm new server NAME, for example: pnpm new server weather\n");
    process.exitCode = 2;
  }
} catch (error) {
  // A wrong name gets a message; anything else is a bug and keeps its stack.
  if (!(error instanceof NameError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

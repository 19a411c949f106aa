// `pnpm conformance`: the official conformance suite and the Inspector, each in the version that the tests pin, against a
// server built on core and against every real server. `--newest` takes the newest suite instead of the pinned one. They come from
// the npm registry, with the Node.js that they need.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { runVitest } from "./lib/setup.mjs";

const argv = process.argv.slice(2);
const args = argv.filter((argument) => argument !== "--newest");
/** @type {Record<string, string>} */
const env = {};
if (args.length < argv.length) {
  env.REFMCP_CONFORMANCE = await newestSuite();
  process.stdout.write(`@modelcontextprotocol/conformance ${env.REFMCP_CONFORMANCE}\n`);
}
const path = ["--config", "release-path/vitest.config.ts", "conformance.release"];
const long = ["--mode", "long", "conformance/servers"];
for (const command of [
  [...path, ...args],
  [...long, ...args],
])
  process.exitCode = (await runVitest(command, env)) || process.exitCode;

/** The version that npm published last: there are only prereleases of the next one. */
async function newestSuite() {
  const { stdout } = await promisify(execFile)(
    "npm",
    ["view", "@modelcontextprotocol/conformance", "versions", "--json"],
    // npm is a batch file on Windows.
    { shell: process.platform === "win32" },
  );
  return JSON.parse(stdout).at(-1);
}

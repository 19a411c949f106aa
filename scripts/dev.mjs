// `pnpm dev SERVER [ARGUMENT …]`: builds a server, opens it in the MCP Inspector, and builds it again after each change of
// its sources. Press Reconnect in the Inspector to use the new build. Example: pnpm dev filesystem .
import { spawn } from "node:child_process";
import { existsSync, watch } from "node:fs";
import { join } from "node:path";
import { build, install, ROOT, run, serverNames } from "./lib/setup.mjs";

/** Newer ones need a newer Node.js too, which npx brings if this one is older. */
const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const INSPECTOR_NODE = 22;
/** An editor writes several files at once, and some of them twice. */
const SETTLED_MS = 200;

const [name = "", ...args] = process.argv.slice(2);
if (!serverNames().includes(name)) {
  process.stderr.write(
    `Usage: pnpm dev SERVER [ARGUMENT …]\nThe servers are ${serverNames().join(", ")}. Arguments are the server's.\n`,
  );
  process.exit(2);
}
await install();
await build();

const folder = join(ROOT, "servers", name);
/** What a bundle is made of: a change in another server is of no interest. */
const sources = [
  ...["src", "views", "skills"].map((part) => join(folder, part)),
  ...["boundary", "core", "documents", "sql"].flatMap((part) =>
    ["src", "views"].map((kind) => join(ROOT, "packages", part, kind)),
  ),
].filter((path) => existsSync(path));

let isBuilding = false;
let isChanged = false;
/** @type {NodeJS.Timeout | undefined} */
let settled;
for (const path of sources)
  watch(path, { recursive: true }, (_event, file) => {
    // The build writes the index of each folder.
    if (file === null || /(?:\.test\.ts|(?:^|[\\/])index\.ts)$/.test(file)) return;
    isChanged = true;
    clearTimeout(settled);
    settled = setTimeout(rebuild, SETTLED_MS);
  });

async function rebuild() {
  if (isBuilding) return;
  isBuilding = true;
  while (isChanged) {
    isChanged = false;
    const started = performance.now();
    const script = join(ROOT, "scripts", "bundle.mjs");
    const code = await run(process.execPath, [script], { cwd: folder, quiet: true });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stderr.write(
      code === 0
        ? `Built ${name} again in ${seconds} s. Press Reconnect in the Inspector.\n`
        : `${name} was not built; the Inspector still has the last build.\n`,
    );
  }
  isBuilding = false;
}

const [major = 0] = process.versions.node.split(".").map(Number);
const bin = join(folder, "dist", "bin.js");
const newer = major < INSPECTOR_NODE ? ["-p", `node@${INSPECTOR_NODE}`] : [];
// The server runs with this Node.js, and the Inspector with its own.
const inspector = spawn(
  "npx",
  ["-y", ...newer, "-p", INSPECTOR, "mcp-inspector", "--web", "--", process.execPath, bin, ...args],
  {
    cwd: process.env.INIT_CWD ?? process.cwd(),
    stdio: "inherit",
    shell: process.platform === "win32",
  },
);
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
  process.on(signal, () => inspector.kill(signal));
inspector.on("exit", (code) => process.exit(code ?? 0));

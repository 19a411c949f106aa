#!/usr/bin/env node
// Counts the source files and functions that one tool call enters, from the request's bytes to those of the answer:
//   pnpm flow filesystem read_text_file '{"path":"package.json","head":3}'
//   pnpm flow git git_log '{"repo_path":"."}' --list -- --root . --timeout-ms 5000
// It calls the tool twice and counts the second call, in the server's process, its workers and child processes. --list
// also prints the files. What follows -- are the server's arguments; default: the current directory. The sources run
// directly, for which Node.js 24 is needed; an older one starts 24 with npx.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import inspector from "node:inspector";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";

const SELF = fileURLToPath(import.meta.url);
/** How long all threads get to write what they counted, in milliseconds. */
const COUNTING_MS = 400;

const { FLOW_DIR } = process.env;
if (FLOW_DIR !== undefined) count(FLOW_DIR);
else if (Number(process.versions.node.split(".")[0]) < 24) startWithNode24();
else await measure(process.argv.slice(2));

function startWithNode24() {
  const args = ["-y", "-p", "node@24", "node", SELF, ...process.argv.slice(2)];
  process.exitCode = spawnSync("npx", args, { stdio: "inherit" }).status ?? 1;
}

/**
 * In each thread of the server: writes the functions that ran since the last step whenever the file `step` changes.
 *
 * @param {string} dir
 */
function count(dir) {
  const session = new inspector.Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  let last = "";
  const look = () => {
    const step = existsSync(join(dir, "step")) ? readFileSync(join(dir, "step"), "utf8") : "";
    if (step === last) return;
    last = step;
    session.post("Profiler.takePreciseCoverage", (_error, { result }) => {
      const functions = result
        .filter(({ url }) => /\/(?:packages|servers)\/[^/]+\/src\//.test(url))
        .map(({ url, functions }) => [
          url.replace(/.*\/(?=(?:packages|servers)\/)/, ""),
          // The first "function" of a module is the module itself.
          functions
            .flatMap(({ functionName, ranges: [range] }) =>
              range !== undefined && (functionName !== "" || range.startOffset > 0)
                ? [range.count]
                : [],
            )
            .filter((times) => times > 0),
        ]);
      writeFileSync(
        join(dir, `${step}.${process.pid}.${threadId}.json`),
        JSON.stringify(functions),
      );
    });
  };
  setInterval(look, 50).unref();
}

/** @param {string[]} args */
async function measure(args) {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const [server = "", tool, json = "{}"] = args.slice(0, end).filter((arg) => arg !== "--list");
  if (tool === undefined)
    throw new Error("Usage: pnpm flow SERVER TOOL ['{ARGUMENTS}'] [--list] [-- SERVER ARGUMENTS]");
  const entry = resolve(SELF, "../..", "servers", server, "src/bin.ts");
  const serverArgs = end < args.length ? args.slice(end + 1) : ["."];
  const dir = mkdtempSync(join(tmpdir(), "refmcp-flow-"));
  const env = { ...process.env, FLOW_DIR: dir, NODE_OPTIONS: `--no-warnings --import ${SELF}` };
  // Not above: the server's threads import this module, too.
  const { RawClient } = await import("./lib/bench-kit.mjs");
  const client = new RawClient([process.execPath, entry, ...serverArgs], { env });
  /** @param {string} name */
  const step = (name) => {
    writeFileSync(join(dir, "step"), name);
    return sleep(COUNTING_MS);
  };
  /** @returns {Promise<boolean>} whether the answer is an error */
  const call = () =>
    client.request("tools/call", { name: tool, arguments: JSON.parse(json) }).then(
      ({ isError }) => isError === true,
      () => true,
    );

  await client.initialize();
  await call();
  await step("before");
  const failed = (await call()) ? " (an error)" : "";
  await step("after");
  await client.close();

  /** @type {Map<string, number[]>} */
  const files = new Map();
  for (const name of readdirSync(dir).filter((file) => file.startsWith("after.")))
    for (const [file, counts] of JSON.parse(readFileSync(join(dir, name), "utf8")))
      if (counts.length > 0) files.set(file, [...(files.get(file) ?? []), ...counts]);
  rmSync(dir, { recursive: true });
  const counts = [...files.values()].flat();
  const calls = counts.reduce((sum, count) => sum + count, 0);
  const lines = [
    `${tool}${failed}: ${files.size} files, ${counts.length} functions, ${calls} function calls`,
  ];
  if (args.includes("--list")) lines.push(...[...files.keys()].sort().map((file) => `  ${file}`));
  process.stdout.write(`${lines.join("\n")}\n`);
}

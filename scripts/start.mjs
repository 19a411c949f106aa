// `npm start [-- NAME … --verbose --no-system-packages]`: sets everything up, then plays the servers' demos (those of
// the named servers, else all) as a host would, over stdio on real input in temporary folders, and ends with an entry
// to paste. It fails if a demo does not do what it promises.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build, compiled, install, ROOT, serverNames } from "./lib/setup.mjs";
import { importSource } from "./lib/sources.mjs";

const verbose = process.argv.includes("--verbose");
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const all = serverNames();
const unknown = named.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No server is named ${unknown.join(", ")}. There are: ${all.join(", ")}.\n`);
  process.exit(2);
}

await install({ tools: false });
await build({ wait: false });

const { bold, dim, green, play, print, red, yellow } = await import("./lib/demo.mjs");
const marks = { passed: green("✓"), failed: red("✗"), skipped: yellow("–") };
/** @param {number} ms */
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

print("");
// On a terminal, shows which demo runs until its line is printed.
const live = process.stdout.isTTY === true && !verbose;
const clear = () => live && process.stdout.write("\r\u001b[2K");
/** @type {import("./lib/demo.mjs").Outcome[]} */
const outcomes = [];
/** Whether a server needs an addon that may still compile. @param {string} name */
const needsAddon = (name) =>
  "better-sqlite3" in
  (JSON.parse(readFileSync(join(ROOT, "servers", name, "package.json"), "utf8")).dependencies ??
    {});
const chosen = named.length > 0 ? named : all;
for (const name of [...chosen].sort((a, b) => Number(needsAddon(a)) - Number(needsAddon(b)))) {
  if (needsAddon(name)) await compiled();
  const module = await import(pathToFileURL(join(ROOT, "servers", name, "demo.mjs")).href);
  if (live) process.stdout.write(dim(`  ${name} …`));
  /** @param {string} line */
  const announce = (line) => {
    clear();
    print(`  ${line}`);
  };
  const outcome = await play(name, module, { verbose, announce });
  clear();
  outcomes.push(outcome);
  const { state, calls, ms, reason } = outcome;
  const spent = state === "skipped" ? "skipped" : `${counted(calls, "call")}, ${seconds(ms)}`;
  print(
    `${verbose ? "\n" : ""}${marks[state]} ${bold(name)}: ${module.title} ${dim(`(${spent})`)}`,
  );
  if (reason !== undefined) print(reason.replaceAll(/^/gm, "    "));
}

await compiled();

/** @param {keyof typeof marks} state */
const of = (state) => outcomes.filter((outcome) => outcome.state === state);
/** @param {typeof outcomes} some */
const listed = (some) => some.map(({ name }) => name).join(", ");
const [passed, failed, skipped] = [of("passed"), of("failed"), of("skipped")];
const isRed = failed.length > 0 || skipped.some(({ required }) => required);
const calls = outcomes.reduce((sum, outcome) => sum + outcome.calls, 0);
const took = outcomes.reduce((sum, outcome) => sum + outcome.ms, 0);
const summary = [
  `${counted(passed.length, "demo")} passed`,
  ...(failed.length > 0 ? [`${failed.length} failed (${listed(failed)})`] : []),
  ...(skipped.length > 0 ? [`${skipped.length} skipped (${listed(skipped)})`] : []),
].join(", ");
print(
  `\n${marks[isRed ? "failed" : passed.length > 0 ? "passed" : "skipped"]} ${bold(summary)}: ${counted(calls, "call")} in ${seconds(took)}.`,
);
if (!verbose) print(dim("  To see every call and answer: npm start -- --verbose"));

// Printed as for any other server and host.
const bin = join("packages", "refmcp", "dist", "bin.js");
const { stdout: entry, stderr: where } = await promisify(execFile)(process.execPath, [
  join(ROOT, bin),
  "filesystem",
  ROOT,
  "--print-config",
  "claude-desktop",
]);
const { HOST_NAMES } = await importSource("packages/refmcp/src/hosts/hosts.ts");
print(`
${bold("Use it:")} connect the assistants on this computer. Each entry is shown before it is written, and started afterwards. Where an
assistant reports the open project, the servers work in that; elsewhere in the folder that you name.

  node ${bin} setup ~/my-project

${bold("Or by hand:")} ${where.trimEnd()}

The last path is the folder that the server may use. Here it is this clone; replace it with your own.

${entry}
Then ask: "What is in that folder?"

${dim(`Other servers and hosts: node ${bin} NAME --print-config HOST prints the entry, and says where it goes.
  NAME  ${all.join(", ")}
  HOST  one of ${HOST_NAMES.length - 1}, listed in docs/hosts.md; for example: node ${bin} sqlite --db-path my.db --print-config vscode`)}`);
process.exitCode = isRed ? 1 : 0;

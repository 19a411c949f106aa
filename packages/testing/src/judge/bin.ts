#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { run } from "./cli.ts";
import { killAll } from "./stdio.ts";

// The servers are in their own process groups, so Ctrl+C does not reach them.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    killAll();
    process.exit(130);
  });
}
process.once("exit", killAll);

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
process.exitCode = await run(process.argv.slice(2), version, {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  isInteractive: process.stderr.isTTY === true,
});

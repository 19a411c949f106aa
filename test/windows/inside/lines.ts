// For programs that run in Node.js for Windows under Wine: their input, and the lines that they print.
import { readFileSync, writeSync } from "node:fs";

/** The input that the test gave. */
export const input = <Input>(): Input => JSON.parse(readFileSync("input.json", "utf8"));

/** Prints a line for the test. */
export function report(line: Readonly<Record<string, unknown>>): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** A server's environment: what Windows needs, and what lets this Node.js start under Wine. */
export const ENVIRONMENT = { NODE_SKIP_PLATFORM_CHECK: "1" };

import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Connected } from "./connect.ts";
import { errorProblems } from "./refusals.ts";

export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

export type Arguments = Readonly<Record<string, unknown>>;
export interface Call {
  readonly name: string;
  readonly arguments: Arguments;
}

/** Maximum characters of an answer, unless the user sets another budget. */
export const DEFAULT_BUDGET = 20_000;
const INTERNAL = /internal error|\bat .*:\d+:\d+/;

/** Expects a valid answer: bounded, and structured if the tool has an output. */
export function checkAnswer(tool: Tool, result: CallToolResult, connected: Connected): void {
  succeed(tool.name, result, connected);
  expect(result.content.length, `${tool.name} returned nothing`).toBeGreaterThan(0);
  expect(
    textOf(result).length,
    `${tool.name} exceeds call.budget: return less, and a next_cursor for the rest`,
  ).toBeLessThanOrEqual(DEFAULT_BUDGET);
  // The client has checked what is structured against the schema.
  if (tool.outputSchema === undefined) expect(result.structuredContent, tool.name).toBeUndefined();
  else {
    expect(result.structuredContent, tool.name).toBeDefined();
    expect(textOf(result), tool.name).not.toBe("");
  }
}

export function succeed(name: string, result: CallToolResult, connected: Connected): void {
  noInternalError(name, result, connected);
  expect(
    result.isError,
    `${name} fails with the arguments of test/fixture.ts: ${textOf(result)}`,
  ).not.toBe(true);
}

/** Expects that a call failed with an error that its caller can act on. */
export function fail(name: string, result: CallToolResult, connected: Connected): void {
  noInternalError(name, result, connected);
  expect(
    result.isError,
    `${name} does not fail with the arguments of failures in test/fixture.ts`,
  ).toBe(true);
  none(errorProblems(textOf(result), []), `${name}: `);
}

/** Fails with all problems. */
export function none(problems: readonly string[], what = ""): void {
  if (problems.length > 0) throw new Error(problems.map((line) => what + line).join("\n"));
}

function noInternalError(name: string, result: CallToolResult, { stderr }: Connected): void {
  if (result.isError !== true || !INTERNAL.test(textOf(result))) return;
  throw new Error(
    [
      `${name} failed with an internal error. If the caller can do something about it, throw new ToolError(kind, message, { hint }); otherwise fix it:`,
      stderr() || textOf(result),
    ].join("\n"),
  );
}

/** Compares a text with a file of the server's tests, which `-u` writes. */
export async function expectSnapshot(file: string, text: string): Promise<void> {
  await expect(text, CHANGED).toMatchFileSnapshot(file);
}

const CHANGED = `What a model sees of this server, or reads as an answer, has changed.
A lost line (-) takes something away from users: only an issue that names it, or a tool that goes, explains it.
A new line (+) costs every model tokens. Read each changed line as a model would; if it is intended, run:
npx vitest run test/contract.test.ts -u`;

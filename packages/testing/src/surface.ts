import type {
  CallToolResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Connected } from "./connect.ts";
import { answerProblems, errorProblems } from "./judge/answers.ts";
import type { Problem } from "./judge/finding.ts";
import { RULES } from "./judge/rules.ts";

/** Everything that a model sees of a server. */
export interface Surface {
  readonly instructions: string | undefined;
  readonly tools: readonly Tool[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  readonly prompts: readonly Prompt[];
}

/** The snapshot of a server's surface. Top-level keys of tools are in a fixed order. */
export function surfaceSnapshot({ instructions, tools, ...others }: Surface): string {
  const ordered = tools.map(
    ({ name, title, description, annotations, inputSchema, outputSchema, ...rest }) => {
      return { name, title, description, annotations, inputSchema, outputSchema, ...rest };
    },
  );
  return json({ instructions, tools: ordered, ...others });
}

/** A tool's answer for review: text as the model reads it, other blocks and structured content as JSON. */
export function answerSnapshot(
  call: { name: string; arguments: unknown },
  result: CallToolResult,
): string {
  const blocks = result.content.map((block) =>
    block.type === "text" ? `${block.text}\n` : json(block),
  );
  const parts = [
    `${call.name} ${JSON.stringify(call.arguments)}${result.isError === true ? " → error" : ""}`,
    ...blocks,
    ...(result.structuredContent === undefined
      ? []
      : [`structuredContent:\n${json(result.structuredContent)}`]),
  ];
  return parts.join("\n");
}

export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
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
  none(tool.name, answerProblems(tool, result, 0));
  expect(
    textOf(result).length,
    `${tool.name} exceeds call.budget: return less, and a next_cursor for the rest`,
  ).toBeLessThanOrEqual(DEFAULT_BUDGET);
  if (tool.outputSchema === undefined) expect(result.structuredContent, tool.name).toBeUndefined();
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
  none(name, errorProblems(textOf(result), []));
}

/** Fails with what the judge says about an answer. */
export function none(name: string, problems: readonly Problem[]): void {
  const lines = problems.map(({ rule, text }) => `${name}: ${text}\n  ${RULES[rule].next}`);
  expect(lines.join("\n")).toBe("");
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

/** Compares a text with a file of `test/surface`, which `-u` writes. */
export async function expectSnapshot(file: string, text: string): Promise<void> {
  const next =
    "Read the difference below as a model would. If the change is intended, run: npx vitest run test/contract.test.ts -u";
  await expect(text, next).toMatchFileSnapshot(file);
}

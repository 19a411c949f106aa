import { randomBytes } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { grouped, HARD_ANSWER_CHARS } from "../answer/budget.ts";
import { ToolError } from "../answer/errors.ts";
import { type Content, DataAnswer, type Tool } from "../define/tool.ts";
import type { Log } from "../log.ts";

/** Key in a result's `_meta` under which an error's kind and code stand for programs. */
export const ERROR_META = "io.github.refmcp/error";

/**
 * What a tool returned → what the client gets. Data is checked against `output`, stripped of unknown keys
 * (a client rejects an answer that has any) and sent both as `structuredContent` and as the same JSON in text,
 * since some hosts show one and some the other.
 *
 * @throws ToolError `too_large` where the answer exceeds the hard limit of 80,000 characters.
 * @throws TypeError where the tool broke its own contract: a fault of the server.
 */
export function resultOf(tool: Tool<unknown>, returned: unknown): CallToolResult {
  if (tool.output === undefined) return { content: withinLimit(tool, contentOf(tool, returned)) };
  const answer = returned instanceof DataAnswer ? returned : new DataAnswer(returned, [], undefined);
  const parsed = tool.output.safeParse(answer.value);
  if (!parsed.success) {
    throw new TypeError(
      `${tool.name} returned what its output schema does not allow: ${parsed.error.message}`,
    );
  }
  const text = answer.text ?? JSON.stringify(parsed.data);
  const content = withinLimit(tool, [{ type: "text", text: text.toWellFormed() }, ...answer.links]);
  return { content, structuredContent: parsed.data };
}

function contentOf(tool: Tool<unknown>, returned: unknown): Content[] {
  if (typeof returned === "string") return [{ type: "text", text: returned.toWellFormed() }];
  if (!Array.isArray(returned)) throw new TypeError(`${tool.name} returned neither text nor content blocks`);
  const blocks: Content[] = returned;
  return blocks.map((block) =>
    block.type === "text" ? { ...block, text: block.text.toWellFormed() } : block,
  );
}

/** The last line of defence: a tool keeps to `call.budget` itself and offers a cursor. */
function withinLimit(tool: Tool<unknown>, content: Content[]): Content[] {
  const length = content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
  if (length <= HARD_ANSWER_CHARS) return content;
  throw new ToolError(
    "too_large",
    `The answer of ${tool.name} has ${grouped(length)} characters; at most ${grouped(HARD_ANSWER_CHARS)} are sent.`,
    { hint: "Ask for less: a narrower path or query, or a smaller limit." },
  );
}

/**
 * An error → a tool result that the agent can act on. A `ToolError` is shown as it is; anything else is our
 * fault: the agent gets an id, stderr gets the id and the stack.
 */
export function errorResult(tool: Tool<unknown>, error: unknown, log: Log): CallToolResult {
  const shown = error instanceof ToolError ? error : faultError(tool.name, error, log);
  if (shown.cause !== undefined) log.debug(`${tool.name}: ${shown.message}: ${describe(shown.cause)}`);
  const text = shown.hint === undefined ? shown.message : `${shown.message}\n${shown.hint}`;
  return {
    content: [{ type: "text", text: text.toWellFormed() }],
    isError: true,
    ...(shown.data === undefined ? {} : { structuredContent: shown.data }),
    _meta: { [ERROR_META]: { kind: shown.kind, ...(shown.code === undefined ? {} : { code: shown.code }) } },
  };
}

/** Logs a fault of the server under a fresh id and returns the error that tells the caller this id. */
export function faultError(where: string, error: unknown, log: Log): ToolError {
  const id = randomBytes(4).toString("hex");
  log.error(`fault ${id} in ${where}: ${describe(error)}`);
  return new ToolError("unavailable", `${where} failed by a fault of this server (id ${id}).`, {
    hint: "Your arguments are not to blame. The server's stderr log holds the details under this id; another way to the same goal may work.",
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

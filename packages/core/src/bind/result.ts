import { clip, grouped, HARD_ANSWER_CHARS, JsonText, ToolError } from "@refmcp/boundary/answer";
import type { ContentBlock } from "../define/content.ts";
import { DataAnswer, type Tool } from "../define/tool.ts";
import { describeError, faultError } from "../engine/errors.ts";
import type { Revision } from "../engine/revision.ts";
import type { CallToolResult } from "../engine/wire.ts";
import type { Log } from "../log.ts";

/** The key in a result's `_meta` with an error's kind and code, for programs. */
const ERROR_META = "io.github.refmcp/error";

/**
 * Converts a tool's return value to the client's result. Data is checked against `output`, stripped of unknown keys (a
 * client rejects an answer that has any) and sent both as `structuredContent` and as JSON text, since some hosts show
 * one and some the other. `JsonText` is sent unchanged.
 *
 * @throws ToolError `too_large` if the answer exceeds the hard limit of 80,000 characters.
 * @throws TypeError if the tool violated its own contract: an internal error.
 */
export function resultOf(tool: Tool<unknown>, returned: unknown): CallToolResult {
  if (tool.output === undefined) return { content: withinLimit(tool, contentOf(tool, returned)) };
  if (returned instanceof JsonText) {
    const content = withinLimit(tool, [{ type: "text", text: returned.text }]);
    return { content, structuredContent: returned };
  }
  const answer =
    returned instanceof DataAnswer ? returned : new DataAnswer(returned, [], undefined);
  const parsed = tool.output.safeParse(answer.value);
  if (!parsed.success) {
    throw new TypeError(
      `The result of ${tool.name} does not match its output schema: ${parsed.error.message}`,
    );
  }
  const text = answer.text ?? JSON.stringify(parsed.data);
  if (answer.text !== undefined) checkLength(tool, JSON.stringify(parsed.data).length);
  const content = withinLimit(tool, [{ type: "text", text: text.toWellFormed() }, ...answer.links]);
  // A result with links states that it is not an error: a failed verdict is still a finished run.
  return {
    content,
    structuredContent: parsed.data,
    ...(returned === answer ? { isError: false } : {}),
  };
}

function contentOf(tool: Tool<unknown>, returned: unknown): ContentBlock[] {
  if (typeof returned === "string") return [{ type: "text", text: returned.toWellFormed() }];
  if (!Array.isArray(returned))
    throw new TypeError(`${tool.name} returned neither text nor content blocks`);
  const blocks: ContentBlock[] = returned;
  return blocks.map((block) =>
    block.type === "text" ? { ...block, text: block.text.toWellFormed() } : block,
  );
}

/** The last line of defense: a tool should itself stay within `call.budget` and offer a cursor. */
function withinLimit(tool: Tool<unknown>, content: ContentBlock[]): ContentBlock[] {
  const length = content.reduce(
    (sum, block) => sum + (block.type === "text" ? block.text.length : 0),
    0,
  );
  checkLength(tool, length);
  return content;
}

function checkLength(tool: Tool<unknown>, length: number): void {
  if (length <= HARD_ANSWER_CHARS) return;
  throw new ToolError(
    "too_large",
    `The response of ${tool.name} has ${grouped(length)} characters; the limit is ${grouped(HARD_ANSWER_CHARS)}.`,
    { hint: "Request less: a narrower path or query, or a smaller limit." },
  );
}

/**
 * Converts an error to a tool result that the agent can act on, within the hard limit. A `ToolError` is shown
 * unchanged. Anything else is an internal error: the agent gets an id, stderr gets the id and the stack.
 */
export function errorResult(tool: string, error: unknown, log: Log): CallToolResult {
  const shown = error instanceof ToolError ? error : faultError(tool, error, log);
  if (shown.cause !== undefined) {
    const cause = describeError(shown.cause);
    // What is unavailable concerns whoever runs the server, at every log level; the stack only helps to debug.
    if (shown.kind === "unavailable")
      log.warning(`${tool}: ${shown.message}: ${cause.split("\n", 1)[0]}`);
    log.debug(`${tool}: ${shown.message}: ${cause}`);
  }
  const { data } = shown;
  const text = shown.hint === undefined ? shown.message : `${shown.message}\n${shown.hint}`;
  return {
    content: [{ type: "text", text: clip(text, HARD_ANSWER_CHARS).toWellFormed() }],
    isError: true,
    ...(data !== undefined && JSON.stringify(data).length <= HARD_ANSWER_CHARS
      ? { structuredContent: data }
      : {}),
    _meta: {
      [ERROR_META]: { kind: shown.kind, ...(shown.code === undefined ? {} : { code: shown.code }) },
    },
  };
}

/** A content block in the form of a revision; a type that the revision does not have becomes text. */
export function blockFor({ links, audio }: Revision, block: ContentBlock): ContentBlock {
  if (block.type === "resource_link" && !links)
    return { type: "text", text: `${block.title ?? block.name}: ${block.uri}` };
  if (block.type === "audio" && !audio) {
    return {
      type: "text",
      text: `[audio, ${block.mimeType}: this client's protocol revision has no audio content]`,
    };
  }
  return block;
}

export function resultFor(revision: Revision, result: CallToolResult): CallToolResult {
  if (revision.structuredContent) return result;
  const { structuredContent: _, ...rest } = result;
  return { ...rest, content: result.content.map((block) => blockFor(revision, block)) };
}

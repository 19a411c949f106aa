import type { CallToolResult, PromptMessage } from "@modelcontextprotocol/server";
import type { Content } from "../define/tool.ts";

/**
 * A content block as a client of `version` knows it: `resource_link` came with 2025-06-18 and audio with
 * 2025-03-26; before, they go as text that says the same.
 */
export function blockFor(version: string | undefined, block: Content): Content {
  if (version === undefined) return block;
  if (block.type === "resource_link" && version < "2025-06-18") {
    return { type: "text", text: `${block.title ?? block.name}: ${block.uri}` };
  }
  if (block.type === "audio" && version < "2025-03-26") {
    return {
      type: "text",
      text: `[audio, ${block.mimeType}: this client's protocol revision has no audio content]`,
    };
  }
  return block;
}

/** A tool's result as a client of `version` knows it; `structuredContent` came with 2025-06-18. */
export function resultFor(version: string | undefined, result: CallToolResult): CallToolResult {
  if (version === undefined || version >= "2025-06-18") return result;
  const { structuredContent: _, ...rest } = result;
  return { ...rest, content: result.content.map((block) => blockFor(version, block)) };
}

/** A prompt's message as a client of `version` knows it. */
export function messageFor(version: string | undefined, message: PromptMessage): PromptMessage {
  return { ...message, content: blockFor(version, message.content) };
}

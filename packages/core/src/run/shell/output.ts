import { visibleJson } from "@refmcp/boundary/answer";
import { isObject } from "../../engine/message.ts";

/** A result as text for a person: text blocks, indented JSON for data, URIs for links. */
export function asText(result: Readonly<Record<string, unknown>>): string {
  const { content, structuredContent } = result;
  const data = structuredContent === undefined ? undefined : JSON.stringify(structuredContent);
  const texts = (Array.isArray(content) ? content : []).filter(isObject).map((block) => {
    if (block.type === "resource_link") return `${block.uri}  ${block.title ?? block.name}`;
    if (block.type !== "text") return `[${block.mimeType ?? block.type}; --json has its bytes]`;
    const text = String(block.text);
    return data !== undefined && text.endsWith(data)
      ? text.slice(0, -data.length) + pretty(structuredContent).trimEnd()
      : text;
  });
  return texts.map((text) => (text.endsWith("\n") ? text : `${text}\n`)).join("");
}

/** A value as indented JSON. */
export function pretty(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}

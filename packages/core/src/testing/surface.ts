import type {
  CallToolResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
} from "@modelcontextprotocol/client";

/** A listed tool as its snapshot: what a client sees, with sorted keys at the top; the icon follows from the annotations. */
export function toolSnapshot(tool: Tool): string {
  const { name, title, description, annotations, inputSchema, outputSchema, icons: _, ...rest } = tool;
  return json({ name, title, description, annotations, inputSchema, outputSchema, ...rest });
}

/** The rest of a server's surface, as one snapshot. */
export function surfaceSnapshot(parts: {
  instructions: string | undefined;
  resources: readonly Resource[];
  resourceTemplates: readonly ResourceTemplateType[];
  prompts: readonly Prompt[];
}): string {
  return json(parts);
}

/** A tool's answer as a person reviews it: the text as the model reads it, other blocks and the structure as JSON. */
export function answerSnapshot(call: { name: string; arguments: unknown }, result: CallToolResult): string {
  const blocks = result.content.map((block) => (block.type === "text" ? `${block.text}\n` : json(block)));
  const parts = [
    `${call.name} ${JSON.stringify(call.arguments)}${result.isError === true ? " → error" : ""}`,
    ...blocks,
    ...(result.structuredContent === undefined
      ? []
      : [`structuredContent:\n${json(result.structuredContent)}`]),
  ];
  return parts.join("\n");
}

/** What a model reads of an answer. */
export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

import type { ToolAnnotations } from "./content.ts";

/**
 * What a tool does to data.
 *
 * - `read`: nothing changes.
 * - `add`: something new is created; existing data is unchanged.
 * - `change`: existing data is modified, and our journal or the caller can undo it.
 * - `destroy`: data is permanently lost or hard to restore; the tool asks the user first.
 */
export const EFFECTS = ["read", "add", "change", "destroy"] as const;
export type Effect = (typeof EFFECTS)[number];

/**
 * The annotations for hosts (MCP schema, `ToolAnnotations`). Adding is not destructive; any modification is, because
 * the specification only distinguishes "additive" and "destructive".
 */
export function annotationsOf(tool: {
  effect: Effect;
  openWorld?: boolean;
  idempotent?: boolean;
}): ToolAnnotations {
  const isReadOnly = tool.effect === "read";
  return {
    readOnlyHint: isReadOnly,
    destructiveHint: tool.effect === "change" || tool.effect === "destroy",
    idempotentHint: tool.idempotent ?? isReadOnly,
    openWorldHint: tool.openWorld ?? false,
  };
}

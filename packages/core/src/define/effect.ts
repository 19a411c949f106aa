import type { ToolAnnotations } from "./content.ts";

/**
 * What a tool does to the world.
 *
 * - `read`: nothing changes.
 * - `add`: something new appears, nothing that was there is altered.
 * - `change`: something is altered, and our journal or the caller can undo it.
 * - `destroy`: something is permanently lost or hard to restore; the tool asks the user first.
 */
export type Effect = "read" | "add" | "change" | "destroy";

/** Whether a tool of this effect stays in `--read-only` mode. */
export function isReading(effect: Effect): boolean {
  return effect === "read";
}

/**
 * The annotations that a host shows and decides approvals by (MCP schema, `ToolAnnotations`): an addition is not
 * destructive; anything that alters is, because the specification has only "additive" and "destructive".
 */
export function annotationsOf(tool: {
  effect: Effect;
  openWorld: boolean;
  idempotent?: boolean;
}): ToolAnnotations {
  const reading = isReading(tool.effect);
  return {
    readOnlyHint: reading,
    destructiveHint: tool.effect === "change" || tool.effect === "destroy",
    idempotentHint: tool.idempotent ?? reading,
    openWorldHint: tool.openWorld,
  };
}

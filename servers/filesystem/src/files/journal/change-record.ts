import * as z from "zod";

/** The kind of change, named after the tools. */
export const ACTIONS = [
  "create",
  "overwrite",
  "append",
  "edit",
  "create_directory",
  "move",
  "copy",
  "delete",
  "undo",
] as const;

export type Action = (typeof ACTIONS)[number];

/** The state of a path after a change, which must be the same when the change is undone. */
export const stateSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), hash: z.string(), size: z.number() }),
  /** A file that was moved, so its content was not read. */
  z.object({ type: z.literal("moved file"), size: z.number(), mtime_ms: z.number() }),
  z.object({ type: z.literal("moved directory") }),
  /**
   * A directory that was copied or restored. `digest` covers the path, type, size and modification time of everything
   * below it.
   */
  z.object({ type: z.literal("tree"), digest: z.string(), bytes: z.number() }),
  z.object({ type: z.literal("link"), target: z.string() }),
]);

export type State = z.output<typeof stateSchema>;

/** The effect of a change, with everything needed to undo it. Paths are absolute. */
export const effectSchema = z.discriminatedUnion("kind", [
  /**
   * A file's content was replaced. The previous content is the image, or the first `kept` bytes of the new content
   * (append).
   */
  z.object({
    kind: z.literal("replaced"),
    path: z.string(),
    after: stateSchema,
    kept: z.number().optional(),
  }),
  /** A new entry was created, with its missing `parents`, outermost first. */
  z.object({
    kind: z.literal("created"),
    path: z.string(),
    after: stateSchema,
    parents: z.array(z.string()),
  }),
  /** An entry was removed; it is the image. */
  z.object({ kind: z.literal("removed"), path: z.string() }),
  /**
   * A move. `displaced`: the image is the entry that it replaced. `uncovered`: it restored the entry that an earlier
   * move had replaced.
   */
  z.object({
    kind: z.literal("moved"),
    from: z.string(),
    to: z.string(),
    after: stateSchema,
    displaced: z.boolean(),
    uncovered: z.boolean(),
  }),
  /** Directories that were created, outermost first. */
  z.object({ kind: z.literal("made"), directories: z.array(z.string()) }),
  /** Empty directories that were removed, outermost first. */
  z.object({ kind: z.literal("unmade"), directories: z.array(z.string()) }),
]);

export type Effect = z.output<typeof effectSchema>;

export const changeSchema = z.object({
  id: z.string(),
  time: z.string(),
  action: z.enum(ACTIONS),
  path: z.string(),
  destination: z.string().optional(),
  /** For `undo`: the change that it undid. */
  undoes: z.string().optional(),
  /** Absent if it cannot be undone; then `final` says why. */
  effect: effectSchema.optional(),
  final: z.string().optional(),
  size_before: z.number().optional(),
  size_after: z.number().optional(),
});

export type Change = z.output<typeof changeSchema>;

import * as z from "zod";

const path = z.string();
/** Directories, outermost first. */
const directories = z.array(path);

/** The kind of change, named after the tools. */
const action = z.enum([
  "create",
  "overwrite",
  "append",
  "edit",
  "create_directory",
  "move",
  "copy",
  "delete",
  "mode",
  "undo",
]);

export type Action = z.output<typeof action>;

/**
 * The state of a path after a change, which must be the same when the change is undone. The content of a file that was
 * moved was not read. The `digest` of a directory that was copied or restored (`tree`) covers the path, type, size and
 * modification time of everything below it.
 */
const after = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), hash: z.string(), size: z.number() }),
  z.object({ type: z.literal("moved file"), size: z.number(), mtime_ms: z.number() }),
  z.object({ type: z.literal("moved directory") }),
  z.object({ type: z.literal("tree"), digest: z.string(), bytes: z.number() }),
  z.object({ type: z.literal("link"), target: z.string() }),
]);

export type State = z.output<typeof after>;

/**
 * The effect of a change, with everything needed to undo it. Paths are absolute.
 *
 * - `replaced`: the previous content is the image, or the first `kept` bytes of the new content (append).
 * - `created`: a new entry, with its missing `parents`.
 * - `removed`: the entry is the image.
 * - `moved`: if `displaced`, the image is the entry that it replaced; if `uncovered`, it restored the entry that an
 *   earlier move had replaced.
 * - `mode`: the permissions of a file.
 * - `made`, `unmade`: directories were created, or removed while empty.
 */
const effect = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("replaced"), path, after, kept: z.number().optional() }),
  z.object({ kind: z.literal("created"), path, after, parents: directories }),
  z.object({ kind: z.literal("removed"), path }),
  z.object({
    kind: z.literal("moved"),
    from: path,
    to: path,
    after,
    displaced: z.boolean(),
    uncovered: z.boolean(),
  }),
  z.object({ kind: z.literal("mode"), path, before: z.number(), after: z.number() }),
  z.object({ kind: z.literal("made"), directories }),
  z.object({ kind: z.literal("unmade"), directories }),
]);

export type Effect = z.output<typeof effect>;

export const changeSchema = z.object({
  id: z.string(),
  time: z.string(),
  action,
  path,
  destination: path.optional(),
  /** For `undo`: the change that it undid. */
  undoes: z.string().optional(),
  /** Absent if it cannot be undone; then `final` says why. */
  effect: effect.optional(),
  final: z.string().optional(),
  size_before: z.number().optional(),
  size_after: z.number().optional(),
});

export type Change = z.output<typeof changeSchema>;

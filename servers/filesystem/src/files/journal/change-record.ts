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
  "undo",
]);

export type Action = z.output<typeof action>;

/**
 * The state of a path after a change, which must be the same when the change is undone. The content of a file that was
 * moved, or is very large, was not read; of a large file that was `appended` to in place, only the end was. The `digest` of a directory that was copied or restored (`tree`) covers the path, type, size and
 * modification time of everything below it.
 */
const after = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), hash: z.string(), size: z.number() }),
  z.object({ type: z.literal("moved file"), size: z.number(), mtime_ms: z.number() }),
  z.object({ type: z.literal("moved directory") }),
  z.object({ type: z.literal("appended"), from: z.number(), size: z.number(), tail: z.string() }),
  z.object({ type: z.literal("tree"), digest: z.string(), bytes: z.number() }),
  z.object({ type: z.literal("link"), target: z.string() }),
]);

export type State = z.output<typeof after>;

/**
 * The effect of a change, with everything needed to undo it. Paths are absolute.
 *
 * - `replaced`: the previous content is the image; after an append, the first `from` bytes of the new content.
 * - `created`: a new entry, with its missing `parents`.
 * - `removed`: the entry is the image.
 * - `moved`: if `displaced`, the image is the entry that it replaced; if `uncovered`, it restored the entry that an
 *   earlier move had replaced.
 * - `cut`: the end of the file was removed, which is the image; `size` bytes remain.
 * - `made`, `unmade`: directories were created, or removed while empty.
 */
const effect = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("replaced"), path, after }),
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
  z.object({ kind: z.literal("made"), directories }),
  z.object({ kind: z.literal("unmade"), directories }),
  z.object({ kind: z.literal("cut"), path, size: z.number() }),
]);

export type Effect = z.output<typeof effect>;

/** One step of a change: what happened to one path. A change of one file is one step; a call for many files has many. */
const stepSchema = z.object({
  action,
  path,
  destination: path.optional(),
  /** Absent if it cannot be undone; then `final` says why. */
  effect: effect.optional(),
  final: z.string().optional(),
  size_before: z.number().optional(),
  size_after: z.number().optional(),
  /** Of a group's step: the number of its image. */
  image: z.number().optional(),
  /** Where the image is if it is not in the journal: its path in a trash. */
  trash: path.optional(),
});

export type Step = z.output<typeof stepSchema>;

const changeSchema = stepSchema.extend({
  id: z.string(),
  time: z.string(),
  /** For `undo`: the change that it undid. */
  undoes: z.string().optional(),
  /** The first line of a group: its steps follow, one per line. */
  group: z.literal(true).optional(),
});

/** A recorded change. */
export interface Change extends Omit<z.output<typeof changeSchema>, "group"> {
  /** The steps of a call that changed many files, in order; its own `effect` is absent. */
  readonly steps?: readonly Step[];
  /** The process was killed during the call, so the last step may not have been made. */
  readonly interrupted?: boolean;
}

const END_LINE = JSON.stringify({ end: true });

/** The text of a record: a change, or the first line of a group. */
export function recordText(change: Change): string {
  return JSON.stringify(change);
}

export const groupText = {
  begin: (change: Change) => `${JSON.stringify({ ...change, steps: undefined, group: true })}\n`,
  step: (step: Step) => `${JSON.stringify(step)}\n`,
  end: `${END_LINE}\n`,
};

/**
 * Reads a record. The last line of a group may be incomplete if the process was killed while it was written; then the
 * step was not made.
 *
 * @throws Error for a damaged record.
 */
export function parseRecord(text: string): Change {
  const [first = "", ...lines] = text.split("\n");
  const { group, ...change } = changeSchema.parse(JSON.parse(first));
  if (group !== true) return change;
  const isComplete = lines.at(-2) === END_LINE;
  const whole = lines.slice(0, isComplete ? -2 : -1);
  const steps = whole.map((line) => stepSchema.parse(JSON.parse(line)));
  return { ...change, steps, ...(isComplete ? {} : { interrupted: true }) };
}

/** Every step of a change; a change of one file is its own only step. */
export function stepsOf(change: Change): readonly Step[] {
  return change.steps ?? [change];
}

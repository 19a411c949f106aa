import * as z from "zod";

const path = z.string();

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

/**
 * The fingerprint of a path after a step, which must be the same when the step is undone. A file that was moved, or is
 * very large, is known by its size and time; of a directory that was copied or restored (`tree`), everything below it
 * by number and the time of the last change; a `directory` that was moved is not looked into.
 */
const state = z.discriminatedUnion("type", [
  z.object({ type: z.literal("nothing") }),
  z.object({ type: z.literal("file"), size: z.number(), hash: z.string() }),
  z.object({ type: z.literal("moved file"), size: z.number(), mtime_ms: z.number() }),
  z.object({ type: z.literal("link"), target: z.string() }),
  z.object({ type: z.literal("tree"), entries: z.number(), newest_ms: z.number() }),
  z.object({ type: z.literal("directory") }),
  z.object({ type: z.literal("empty directory") }),
]);

export type State = z.output<typeof state>;

const image = path.optional();
const sizes = { size_before: z.number().optional(), size_after: z.number().optional() };

/**
 * One step of a change, with what is needed to undo it. Paths are absolute. An image is the entry that was there
 * before; without one, nothing was.
 *
 * - `put`: the path got another entry, or nothing.
 * - `rename`: an entry was moved.
 * - `append`: the bytes from `from` to `size` were added in place; `digest` is theirs.
 * - `cut`: the reverse of it. `size` bytes remain, and the image is what was cut off.
 */
const step = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("put"), path, after: state, image, ...sizes }),
  z.object({ kind: z.literal("rename"), path, to: path, after: state, ...sizes }),
  z.object({ kind: z.literal("append"), path, from: z.number(), digest: z.string(), ...sizes }),
  z.object({ kind: z.literal("cut"), path, size: z.number(), image: path, ...sizes }),
]);

export type RecordedStep = z.output<typeof step>;

const head = z.strictObject({
  id: z.string(),
  time: z.string(),
  action,
  path,
  destination: path.optional(),
  /** For `undo`: the change that it undid. */
  undoes: z.string().optional(),
});

/** What a change is about: its first path, and of a move or copy where that went. */
export type Subject = Omit<z.output<typeof head>, "id" | "time">;

/** A recorded change: what one call did. */
export interface Change extends z.output<typeof head> {
  readonly steps: readonly RecordedStep[];
  /** The process was killed during the call, so the last step may not have been made; or the call is still running. */
  readonly interrupted: boolean;
}

/**
 * A record is a file of lines: the head, each step before it is made, and the end. So whenever a process is killed, its
 * record has everything that was made.
 */
export const recordLine = {
  head: ({ id, time, action, path, destination, undoes }: Omit<Change, "steps" | "interrupted">) =>
    line({ id, time, action, path, destination, undoes }),
  step: (step: RecordedStep) => line(step),
  end: line({ end: true }),
};

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * Reads a record. Its last line may be incomplete if the process was killed while it was written; then the step was not
 * made.
 *
 * @throws Error for a damaged record.
 */
export function parseRecord(text: string): Change {
  const isEnded = text.endsWith(recordLine.end);
  const [first = "", ...lines] = text
    .slice(0, isEnded ? -recordLine.end.length : undefined)
    .split("\n");
  const steps = lines.slice(0, -1).map((row) => step.parse(JSON.parse(row)));
  return { ...head.parse(JSON.parse(first)), steps, interrupted: !isEnded };
}

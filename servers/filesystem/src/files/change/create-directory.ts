import { type Receipt, Recording } from "../journal/recording.ts";
import { type ChangeContext, removeEmpty } from "./change-context.ts";

export interface CreatedDirectory {
  readonly path: string;
  /** The created directories, outermost first; none if it already existed. */
  readonly created: readonly string[];
  readonly receipt: Receipt | undefined;
}

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export async function createDirectory(context: ChangeContext, path: string): Promise<CreatedDirectory> {
  const absolute = await context.guard.resolve(path);
  const recording = await Recording.start(context.journal, { action: "create_directory", path: absolute });
  const created = await context.guard.createDirectory(absolute);
  if (created.length === 0) return { path: absolute, created, receipt: undefined };
  try {
    await recording.write({ kind: "made", directories: created });
  } catch (error) {
    await removeEmpty(context.guard, created);
    throw error;
  }
  return { path: absolute, created, receipt: recording.receipt() };
}

import { type Ground, removeEmpty } from "./ground.ts";
import { type Receipt, Recording } from "./recording.ts";

export interface CreatedDirectory {
  readonly path: string;
  /** The directories that were made, outermost first; none where it was there already. */
  readonly created: readonly string[];
  readonly receipt: Receipt | undefined;
}

/** Creates a directory and its missing parents. One that is there already is fine. */
export async function createDirectory(ground: Ground, path: string): Promise<CreatedDirectory> {
  const absolute = await ground.guard.resolve(path);
  const recording = await Recording.start(ground.journal, { action: "create_directory", path: absolute });
  const created = await ground.guard.createDirectory(absolute);
  if (created.length === 0) return { path: absolute, created, receipt: undefined };
  try {
    await recording.write({ kind: "made", directories: created });
  } catch (error) {
    await removeEmpty(ground.guard, created);
    throw error;
  }
  return { path: absolute, created, receipt: recording.receipt() };
}

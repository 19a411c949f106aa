import type { GuardedDirectory, GuardedFile, GuardedPlace, PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";

/** Runs `work` with the opened file, and closes it. @throws what `PathGuard.openFile` and `work` throw. */
export async function withFile<Result>(
  guard: PathGuard,
  path: string,
  work: (file: GuardedFile) => Promise<Result>,
): Promise<Result> {
  const file = await guard.openFile(path);
  return work(file).finally(() => file.handle.close());
}

/** Runs `work` with the opened directory, and closes it. @throws what `PathGuard.openDirectory` and `work` throw. */
export async function withDirectory<Result>(
  guard: PathGuard,
  path: string,
  work: (directory: GuardedDirectory) => Promise<Result>,
): Promise<Result> {
  const directory = await guard.openDirectory(path);
  return work(directory).finally(() => directory.close());
}

/** Runs `work` with a writable place, and closes its parent. @throws what `PathGuard.place` and `work` throw. */
export async function withPlace<Result>(
  guard: PathGuard,
  path: string,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await guard.place(path, { write: true });
  return work(place).finally(() => place.parent.close());
}

/** The place at `path`, whose parent is already closed. @throws what `PathGuard.place` throws. */
export async function placeOf(
  guard: PathGuard,
  path: string,
  options?: { write: boolean },
): Promise<GuardedPlace> {
  const place = await guard.place(path, options);
  await place.parent.close();
  return place;
}

/** Opens the directory at `path`; undefined if it is a file. @throws what `PathGuard.openDirectory` throws. */
export async function directoryAt(guard: PathGuard, path: string): Promise<GuardedDirectory | undefined> {
  try {
    return await guard.openDirectory(path);
  } catch (error) {
    if (error instanceof ToolError && error.code === "not_directory") return undefined;
    throw error;
  }
}

/** Returns nothing for a refusal of the guard; rethrows every other error. */
export function orRefused(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}

/** Throws the guard's `not_found`, which suggests similar names, for a missing path. */
export async function notThere(guard: PathGuard, path: string): Promise<never> {
  await (await guard.openFile(path)).handle.close();
  throw new ToolError("conflict", `"${oneLine(path)}" was just created by another program.`, {
    hint: "Retry.",
  });
}

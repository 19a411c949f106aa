import {
  createTemporaryFile,
  errorCode,
  giveFreeName,
  type PathGuard,
  systemError,
} from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

/** A file that was written completely. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a new file piece by piece inside the boundary. The file gets its name once it is complete and on the disk; a failure
 * leaves nothing behind. An existing file or link of that name is left unchanged.
 *
 * @param fill writes the pieces one after the other; its result is returned as `value`
 * @throws ToolError `conflict` if the name is taken; what the boundary throws
 */
export async function writeNewFile<Value>(
  guard: PathGuard,
  path: string,
  fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<Value>,
): Promise<NewFile & { value: Value }> {
  const { parent, entry, path: full, stat } = await guard.place(path, { write: true });
  const conflict = new ToolError(
    "conflict",
    `${JSON.stringify(full)} already exists; nothing was written.`,
    {
      hint: "Choose another name: existing files are never overwritten.",
    },
  );
  // A full disk, for example: without this, a caller could take the error for one of the database.
  const failed = (error: unknown): never => {
    throw systemError(error, full);
  };
  try {
    if (stat !== undefined) throw conflict;
    const temporary = await createTemporaryFile(parent, 0o600, full);
    try {
      let bytes = 0;
      const value = await fill(async (piece) => {
        await temporary.handle.writeFile(piece).catch(failed);
        bytes += piece.length;
      });
      await temporary.handle.sync().catch(failed);
      await temporary.handle.close();
      await parent.verify();
      await giveFreeName(temporary, entry, full).catch((error: unknown) => {
        throw errorCode(error) === "EEXIST" ? conflict : error;
      });
      return { path: full, bytes, value };
    } finally {
      await temporary.discard();
    }
  } finally {
    await parent.close();
  }
}

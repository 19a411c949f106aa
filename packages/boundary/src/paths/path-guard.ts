import { readlink } from "node:fs/promises";
import { ToolError } from "../answer/errors.ts";
import { writeFileAt } from "./atomic-write.ts";
import { explain } from "./explain.ts";
import { keyedLock } from "./keyed-lock.ts";
import { locateText } from "./locate-text.ts";
import { membershipOf } from "./membership.ts";
import { moveEntry } from "./move.ts";
import { portableOpener } from "./opener-portable.ts";
import { hasProc, procOpener } from "./opener-proc.ts";
import { makeDirectories, openDirectoryAt, openFileAt, openPlace } from "./places.ts";
import { reach } from "./reach.ts";
import { quote } from "./system-error.ts";
import { copyTree, removeTree } from "./tree.ts";
import type { Bound, GuardContext, PathGuard } from "./types.ts";

/** How a guard verifies what it opened: by the kernel's own path (Linux), or by comparing before and after. */
export type Verification = "proc" | "portable";

/**
 * Creates the guard of a bound.
 *
 * @param verification default: the strongest that this system supports
 */
export function createPathGuard(bound: Bound, verification?: Verification): PathGuard {
  const { platform } = process;
  const membership = membershipOf(bound, platform);
  const by = verification ?? (hasProc() ? "proc" : "portable");
  const opener = by === "proc" ? procOpener(bound, membership) : portableOpener(bound, membership);
  const context: GuardContext = { bound, membership, opener, platform, writing: keyedLock() };
  const resolve = (path: string): Promise<string> => locateText(path, bound);

  return {
    bound,
    resolve,
    contains: (realPath) => membership.around(realPath) !== undefined,
    openFile: async (path) => openFileAt(await resolve(path), context),
    openDirectory: async (path) => openDirectoryAt(await resolve(path), context),
    place: async (path, options) => openPlace(await resolve(path), context, options),
    writeFile: async (path, content, options = {}) =>
      writeFileAt(await resolve(path), content, options, context),
    move: async (from, to, options = {}) =>
      moveEntry(await resolve(from), await resolve(to), options, context),

    copyTree: (from, to, options) => copyTree(from, to, opener, options),
    removeTree: (spot) => removeTree(spot, opener),

    createDirectory: async (path) => makeDirectories(await resolve(path), context),

    async readLink(path) {
      const absolute = await resolve(path);
      const place = await openPlace(absolute, context);
      try {
        if (place.stat !== undefined && !place.stat.isSymbolicLink()) {
          throw new ToolError("invalid", `${quote(absolute)} is not a symlink.`, {
            code: "not_link",
            hint: "Read it as a file or list it as a directory.",
          });
        }
        const target = await readlink(place.entry);
        const { real, missing } = await reach(absolute);
        return { target, inside: missing.length === 0 && membership.surelyAround(real) !== undefined };
      } catch (error) {
        throw await explain(error, absolute, context);
      } finally {
        await place.parent.close();
      }
    },
  };
}

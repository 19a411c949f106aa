import { unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  copyData,
  type GuardedDirectory,
  type GuardedFile,
  type PathGuard,
  systemError,
  temporaryName,
  within,
} from "@refmcp/boundary";
import type { Effect } from "../journal/change-record.ts";
import type { Recording } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { directoryAt, entryPath, withPlace } from "../open-path.ts";
import type { ChangeContext } from "./change-context.ts";
import { discard } from "./delete.ts";
import { contentOf, stateOfEntry } from "./entries.ts";
import { keepDisplaced, type MoveRequest } from "./move.ts";

const MAX_COPIED = 100_000;
/** Number of entries between two progress reports. */
const PROGRESS_EVERY = 100;

export interface CopyRequest extends MoveRequest {
  /** Called from time to time with the number of entries done and, once known, the total. */
  progress?(done: number, total: number): void;
}

/**
 * Copies a file, or a directory and everything below it. The copy gets its name when it is complete, so nobody sees an
 * incomplete one, and a failed or cancelled copy leaves nothing behind. A link at `source` is followed; links below it
 * are copied as links if they lead inside the bound.
 *
 * @throws ToolError `conflict` if something is at the destination, `too_large` beyond 100,000 entries,
 * `invalid` for a copy into itself.
 */
export async function copy(context: ChangeContext, request: CopyRequest) {
  const { guard, record, locks } = context;
  const { overwrite, signal } = request;
  const from = await guard.resolve(request.source);
  const to = await guard.resolve(request.destination);
  const hidden = temporaryName();
  const hiddenPath = join(dirname(to), hidden);
  return record({ action: "copy", path: from, destination: to }, async (recording) => {
    const copyLocked = async () => {
      const source = (await directoryAt(guard, from)) ?? (await guard.openFile(from));
      try {
        const copied = await withPlace(guard, to, async ({ parent }) => {
          const work =
            "handle" in source
              ? copyFile(recording, parent, source)
              : copyAll(recording, parent, source);
          return work.finally(() => discard(guard, parent, hidden));
        });
        return { path: from, destination: to, ...copied };
      } catch (error) {
        throw systemError(error, to);
      } finally {
        await ("handle" in source ? source.handle.close() : source.close());
      }
    };
    return locks.hold([await entryPath(guard, to)], copyLocked, signal);
  });

  async function copyFile(recording: Recording, parent: GuardedDirectory, source: GuardedFile) {
    const replaced = await keepDisplaced(context, recording, to, {
      overwrite,
      signal,
      links: "refuse",
    });
    const entry = parent.entry(hidden);
    const copied = await copyData(source, entry, signal);
    await copied.chmod(source.stat.mode & 0o777).finally(() => copied.close());
    const after = await stateOfEntry(guard, parent, hidden, signal);
    const bytes = source.stat.size;
    signal?.throwIfAborted();
    const effect: Effect =
      replaced === undefined
        ? { kind: "created", path: to, after, parents: [] }
        : { kind: "replaced", path: to, after };
    await recording.write(effect, { before: replaced, after: bytes });
    await guard.move(hiddenPath, to, { overwrite });
    const skipped: string[] = [];
    return { type: "file" as const, files: 1, directories: 0, links: 0, bytes, skipped, replaced };
  }

  /** `skipped`: links that lead outside the bound or are broken, and special files. */
  async function copyAll(recording: Recording, parent: GuardedDirectory, source: GuardedDirectory) {
    if (within(parent.realPath, source.realPath)) {
      throw failure("into_itself", `${named(from)} cannot be copied into itself (${named(to)}).`);
    }
    await keepDisplaced(context, recording, to, { overwrite: false, links: "refuse" });
    const content = await contentOf(guard, source, { max: MAX_COPIED, signal });
    const total = content.files + content.directories + content.links;
    const special: string[] = [];
    const place = { parent, name: hidden, path: to };
    const copied = await guard.copyTree(source, place, {
      signal,
      attributes: false,
      skipped: (key) => special.push(key.slice(1)),
      progress(entries) {
        if (entries % PROGRESS_EVERY === 0 || entries === total) request.progress?.(entries, total);
      },
    });
    copied.delete("");
    const all = [...copied.values()];
    const files = all.filter((stat) => stat.isFile());
    const directories = all.filter((stat) => stat.isDirectory()).length;
    const links = [...copied].flatMap(([key, stat]) =>
      stat.isSymbolicLink() ? [key.slice(1)] : [],
    );
    const outside = await dropOutsideLinks(guard, from, hiddenPath, links);
    const after = await stateOfEntry(guard, parent, hidden, signal);
    const bytes = files.reduce((sum, { size }) => sum + Number(size), 0);
    await recording.write({ kind: "created", path: to, after, parents: [] }, { after: bytes });
    await guard.move(hiddenPath, to);
    return {
      type: "directory" as const,
      files: files.length,
      directories,
      links: links.length - outside.length,
      bytes,
      skipped: [...outside, ...special].sort(),
      replaced: undefined,
    };
  }
}

/** Removes copied links that are broken or lead outside the bound, from the original or from the copy. */
async function dropOutsideLinks(
  guard: PathGuard,
  from: string,
  copied: string,
  links: readonly string[],
) {
  const dropped: string[] = [];
  for (const path of links) {
    const inside =
      (await guard.readLink(join(from, path))).inside &&
      (await guard.readLink(join(copied, path))).inside;
    if (inside) continue;
    await withPlace(guard, join(copied, path), ({ entry }) => unlink(entry));
    dropped.push(path);
  }
  return dropped;
}

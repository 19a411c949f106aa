import { unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  copyData,
  copyTree,
  type GuardedDirectory,
  type GuardedFile,
  removeTree,
  systemError,
  temporaryName,
  within,
} from "@refmcp/boundary";
import { failure, named } from "../errors.ts";
import { directoryAt, withPlace } from "../open-path.ts";
import { contentOf, stateOf } from "../store/state.ts";
import type { Making, NewContent, Outcome, RunOptions } from "./step.ts";

/** How many entries are copied between two progress reports. */
const PROGRESS_EVERY = 100;

/**
 * Copies a file, or a directory and everything below it. The copy gets its name when it is complete, so nobody sees an
 * incomplete one. A link at `from` is followed; links below it are copied as links if they lead inside.
 */
export async function copyTo(
  making: Making,
  to: string,
  { from }: Extract<NewContent, { kind: "copy" }>,
  progress: RunOptions["progress"],
): Promise<Outcome> {
  const { guard, recording, signal } = making;
  const temporary = temporaryName();
  const hiddenPath = join(dirname(to), temporary);
  const source = (await directoryAt(guard, from)) ?? (await guard.openFile(from));
  try {
    return await withPlace(guard, to, async (place) => {
      const directory = await guard.walk(place.parent);
      const target = { directory, name: temporary, path: to };
      try {
        const isFile = "handle" in source;
        const outcome = isFile
          ? await copyOneFile(source, place.parent.entry(temporary))
          : await copyDirectory(source, place.parent, target);
        const after = await stateOf(directory, temporary, signal);
        signal?.throwIfAborted();
        const size_after = outcome.content.bytes;
        recording.write({ kind: "put", path: to, after, size_after });
        await guard.move(hiddenPath, to);
        return outcome;
      } finally {
        // It is gone if all went well.
        await removeTree(target).catch(() => {});
      }
    });
  } catch (error) {
    throw systemError(error, to);
  } finally {
    await ("handle" in source ? source.handle.close() : source.close());
  }

  async function copyOneFile({ handle, stat }: GuardedFile, entry: string) {
    await copyData(handle.fd, stat.size, entry, signal);
    return { content: { files: 1, directories: 0, links: 0, others: 0, bytes: stat.size } };
  }

  async function copyDirectory(
    source: GuardedDirectory,
    parent: GuardedDirectory,
    target: { directory: Awaited<ReturnType<typeof guard.walk>>; name: string; path: string },
  ) {
    if (within(parent.realPath, source.realPath))
      throw failure("into_itself", `${named(from)} cannot be copied into itself (${named(to)}).`);
    const directory = await guard.walk(source);
    const content = await contentOf(directory, signal);
    const total = content.files + content.directories + content.links;
    const special: string[] = [];
    const inventory = await copyTree({ directory, name: ".", path: from }, target, {
      signal,
      attributes: false,
      onSkip: (key) => special.push(key.slice(1)),
      progress(entries) {
        const isDue = entries % PROGRESS_EVERY === 0 || entries === total;
        if (isDue) progress?.(entries, total);
      },
    });
    const links = [...inventory].flatMap(([key, stat]) =>
      stat.isSymbolicLink() ? [key.slice(1)] : [],
    );
    const outside = await dropOutsideLinks(links);
    const now = { ...content, others: 0, links: links.length - outside.length };
    return { content: now, skipped: [...outside, ...special].sort() };
  }

  /** Removes copied links that are broken or lead outside, from the original or from the copy. */
  async function dropOutsideLinks(links: readonly string[]): Promise<string[]> {
    const dropped: string[] = [];
    for (const path of links) {
      const isInside = async (base: string) => (await guard.readLink(join(base, path))).inside;
      if ((await isInside(from)) && (await isInside(hiddenPath))) continue;
      await withPlace(guard, join(hiddenPath, path), ({ entry }) => unlink(entry));
      dropped.push(path);
    }
    return dropped;
  }
}

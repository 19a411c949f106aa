import { readlink, symlink } from "node:fs/promises";
import { oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import type { Recording } from "../journal/recording.ts";
import { placeOf, withFile } from "../open-path.ts";
import type { ChangeContext } from "./change-context.ts";

/**
 * Saves the entry at `path` as the image of a change that will replace it.
 *
 * @returns its size in bytes, or undefined if it does not exist.
 * @throws ToolError `conflict` if it may not be replaced: without `overwrite`, a directory, or a link that is
 * refused.
 */
export async function keepDisplaced(
  context: ChangeContext,
  recording: Recording,
  path: string,
  options: { overwrite: boolean; links: "keep" | "refuse"; signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  const place = await context.guard.place(path, { write: true });
  try {
    const { stat } = place;
    if (stat === undefined) return undefined;
    if (!options.overwrite || stat.isDirectory()) throw taken(path, stat.isDirectory());
    if (stat.isSymbolicLink()) {
      if (options.links === "refuse") throw isLink(path);
      const image = recording.imageFor(0);
      if (image !== undefined) await symlink(await readlink(place.entry), image);
      return 0;
    }
  } finally {
    await place.parent.close();
  }
  return withFile(context.guard, path, async (file) => {
    await recording.keep(file, options.signal);
    return file.stat.size;
  });
}

/** The question to ask before a file at `path` is permanently replaced; undefined if the journal keeps its content. */
export async function replaceQuestion(
  context: ChangeContext,
  path: string,
  overwrite: boolean,
): Promise<string | undefined> {
  if (!overwrite) return undefined;
  const place = await placeOf(context.guard, path, { write: true });
  if (place.stat === undefined || place.stat.isDirectory() || place.stat.size === 0) return undefined;
  return lossQuestion(context, "Replace", place.path, place.stat.size);
}

/**
 * `Overwrite "…"? Its current content will be permanently lost: …`, or undefined if the journal keeps that many bytes.
 */
export async function lossQuestion(
  context: ChangeContext,
  verb: string,
  path: string,
  bytes: number,
): Promise<string | undefined> {
  const reason = await context.journal.whyFinal(path, bytes);
  if (reason === undefined) return undefined;
  return `${verb} "${oneLine(path)}"? Its current content (${sized(bytes)}) will be permanently lost: ${reason}.`;
}

function taken(path: string, directory: boolean): ToolError {
  if (directory) {
    return new ToolError("conflict", `"${oneLine(path)}" already exists and is a directory.`, {
      hint: "Give a path inside it, choose another name, or move or delete it first.",
    });
  }
  return new ToolError("conflict", `"${oneLine(path)}" already exists.`, {
    hint: "Choose another name, or set overwrite to replace it.",
  });
}

function isLink(path: string): ToolError {
  return new ToolError("conflict", `"${oneLine(path)}" already exists and is a symlink.`, {
    hint: "Give the path of its target, or delete the symlink first.",
  });
}

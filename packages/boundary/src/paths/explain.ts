import { lstat, opendir, readdir, readlink, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { nearest, ToolError } from "../answer/errors.ts";
import { directoryAround, surelyAround, unavailableAround } from "./check.ts";
import {
  directoryUnavailable,
  errorCode,
  isMissing,
  leadsOutside,
  listed,
  pathFailure,
  quote,
  systemError,
} from "./path-errors.ts";
import type { GuardContext, GuardedDirectory } from "./types.ts";

/** How much of a path exists: its deepest existing part, and the missing names below it. */
export interface ExistingPart {
  /** Absolute, every link resolved. */
  readonly real: string;
  /** The names below `real` that do not exist; none if the path exists. */
  readonly missing: readonly string[];
  /** The path's own text up to `real`; if a dangling link was followed, `real` itself. */
  readonly written: string;
}

/** How many links Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Follows an absolute path as far as it exists, including dangling links, whose target counts instead of their
 * location. It also looks outside the allowed directories, so the caller must not reveal anything before it has checked
 * that `real` is inside.
 */
export async function existingPart(path: string): Promise<ExistingPart> {
  let at = path;
  for (let links = 0; ; links++) {
    const { real, missing } = await deepestExisting(at);
    const [next = "", ...others] = missing;
    const target = next === "" ? undefined : await targetOf(join(real, next));
    // A loop of links has no target, so its own location counts.
    if (links === MAX_LINKS) return { real, missing, written: real };
    if (target !== undefined) {
      // Not normalized: `..` after a link is the parent of the link's target.
      at = [isAbsolute(target) ? target : real + sep + target, ...others].join(sep);
    } else if (missing.includes("..")) {
      at = join(real, ...missing);
    } else {
      return {
        real,
        missing,
        written: links === 0 ? missing.reduce((part) => dirname(part), path) : real,
      };
    }
  }
}

async function deepestExisting(path: string): Promise<{ real: string; missing: string[] }> {
  const { root } = parse(path);
  const names = path
    .slice(root.length)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((name) => name !== "" && name !== ".");
  for (let length = names.length; ; length--) {
    try {
      return {
        real: await realpath(root + names.slice(0, length).join(sep)),
        missing: names.slice(length),
      };
    } catch {
      if (length === 0) return { real: root, missing: names };
    }
  }
}

async function targetOf(link: string): Promise<string | undefined> {
  try {
    return (await lstat(link)).isSymbolicLink() ? await readlink(link) : undefined;
  } catch {
    return undefined;
  }
}

/** Opens a directory for some work; undefined if it cannot be opened, or the work fails. */
async function tryIn<Result>(
  path: string,
  { opener }: GuardContext,
  work: (directory: GuardedDirectory) => Promise<Result>,
): Promise<Result | undefined> {
  let directory: GuardedDirectory | undefined;
  try {
    directory = await opener.openDirectory(path, path);
    return await work(directory);
  } catch {
    return undefined;
  } finally {
    await directory?.close();
  }
}

/** Whether the deepest existing part of a path is inside, and with it what is missing below. */
export async function isInsideNow({ real }: ExistingPart, context: GuardContext): Promise<boolean> {
  if (surelyAround(real, context.allowed) !== undefined) return true;
  return (await tryIn(real, context, async () => true)) === true;
}

/** Whether `text` has more than one Unicode form, so a name may be stored in another form than requested. */
export function hasForms(text: string): boolean {
  return text.normalize("NFC") !== text.normalize("NFD");
}

/** The entry of `directory` that is `name` in another Unicode form (NFC, NFD), if `name` itself does not exist. */
export async function storedName(
  directory: GuardedDirectory,
  name: string,
): Promise<string | undefined> {
  if (!hasForms(name)) return undefined;
  const composed = name.normalize("NFC");
  const names = await readdir(directory.entry(""));
  return names.includes(name) ? undefined : names.find((one) => one.normalize("NFC") === composed);
}

/** `path` with the missing name as stored; undefined if no form of the name exists. */
export async function storedPath(path: string, context: GuardContext): Promise<string | undefined> {
  if (!hasForms(path)) return undefined;
  const { real, missing } = await existingPart(path);
  const [name, ...others] = missing;
  if (name === undefined || directoryAround(real, context.allowed) === undefined) return undefined;
  return tryIn(real, context, async (directory) => {
    const stored = await storedName(directory, name);
    return stored === undefined ? undefined : join(directory.realPath, stored, ...others);
  });
}

/**
 * The error to throw for `path`, with an explanation. Everything outside the allowed directories gets the same `denied`,
 * whether it exists or not.
 */
export async function explain(
  error: unknown,
  path: string,
  context: GuardContext,
): Promise<unknown> {
  if (error instanceof ToolError || errorCode(error) === undefined) return error;
  const existing = await existingPart(path);
  if (!(await isInsideNow(existing, context))) {
    const directory = unavailableAround(path, context.allowed);
    return directory === undefined
      ? leadsOutside(path, context.allowed)
      : directoryUnavailable(path, directory);
  }
  return isMissing(error) ? missingError(path, existing, context) : systemError(error, path);
}

/** `not_found`, with the nearest existing directory and the names in it that are similar to the missing one. */
async function missingError(
  path: string,
  { real, missing: [name], written }: ExistingPart,
  context: GuardContext,
): Promise<ToolError> {
  if (name === undefined) {
    const what = `${quote(path)} appeared or disappeared during this operation.`;
    return pathFailure("changed_meanwhile", what, { hint: "Retry." });
  }
  const found = await stat(real).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    const hint = "Use the file itself, or a path inside a directory.";
    return pathFailure("enoent", `${quote(path)} does not exist: ${quote(written)} is a file.`, {
      hint,
    });
  }
  const similar = nearest(name, await namesIn(real, context));
  const near = similar.length > 0 ? ` and contains ${listed(similar.map(quote))}` : "";
  const what = `does not exist; the nearest existing directory is ${quote(written)}${near}`;
  const hint =
    similar.length > 0
      ? "Use one of these names, or list the directory."
      : "List that directory to see its contents.";
  return pathFailure("enoent", `${quote(path)} ${what}.`, { hint });
}

/** How many names in a directory are compared with a missing one. */
const MAX_NAMES_COMPARED = 5000;

/** The names that could be read, since suggestions are optional. */
async function namesIn(path: string, context: GuardContext): Promise<string[]> {
  const names: string[] = [];
  await tryIn(path, context, async (directory) => {
    for await (const entry of await opendir(directory.entry(""))) {
      names.push(entry.name);
      if (names.length === MAX_NAMES_COMPARED) break;
    }
  });
  return names;
}

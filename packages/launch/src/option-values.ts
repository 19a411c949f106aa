import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { NamedValue, Option } from "@refmcp/core/internal/define/options";
import { suggestion } from "./option-errors.ts";

/** The settings that determine how a path is parsed. */
export interface PathContext {
  /** Relative paths start here; absolute. */
  readonly cwd: string;
  /** What `~` expands to. Default: the user's home directory. */
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
}

export type Scalar = string | number | boolean | URL;

/** An invalid value; the message is a clause that follows "it": `takes an integer from 1 to 5`. */
export class BadValue extends Error {}

/**
 * Parses a text as a value of the option's type (one item, for a list). Does not access the disk.
 *
 * @throws {BadValue}
 */
export function readValue(
  option: Option,
  text: string,
  pathContext: PathContext,
): Scalar | NamedValue<Scalar> {
  if (option.named === undefined) return readScalar(option, text, pathContext);
  const [, name = "", value = ""] = /^(.*?)=(.*)$/s.exec(text) ?? [];
  if (name.trim() === "" || value.trim() === "") throw new BadValue("takes NAME=VALUE");
  return { name: name.trim(), value: readScalar(option, value.trim(), pathContext) };
}

/** The values of an option that is not set: none, one, or a list's. */
export function defaultValues(option: Option, pathContext: PathContext): readonly Scalar[] {
  if (option.type === "flag") return [option.default ?? false];
  const values = [option.default ?? []].flat();
  const isRead = option.type === "url" || option.type === "directory" || option.type === "file";
  return isRead ? values.map((value) => readScalar(option, String(value), pathContext)) : values;
}

/** Whether a value of this list option may hold several items, separated by commas. */
export function splitsAtCommas(option: Option): boolean {
  if (option.list !== true) return false;
  if (option.type === "string") return option.commas !== false;
  return option.type === "enum" || option.type === "integer";
}

/** Splits a command-line value into the items of a list option: names at commas, anything else not at all. */
export function splitArgument(option: Option, text: string): string[] {
  return splitsAtCommas(option) ? items(text, ",") : [text];
}

/**
 * Splits the value of an environment variable into the items of a list option: names at commas, paths at the platform's
 * delimiter as in PATH, anything else at line breaks.
 */
export function splitVariable(option: Option, text: string, platform: NodeJS.Platform): string[] {
  return items(text, separator(option, platform));
}

/** The reverse of `splitVariable`. */
export function joinForVariable(option: Option, texts: readonly string[], platform: NodeJS.Platform): string {
  return texts.join(separator(option, platform));
}

function separator(option: Option, platform: NodeJS.Platform): string {
  if (splitsAtCommas(option)) return ",";
  const isPath = option.named === undefined && (option.type === "directory" || option.type === "file");
  return isPath ? pathOf(platform).delimiter : "\n";
}

function items(text: string, between: string): string[] {
  // A path may begin or end with a space.
  const trims = between === "," || between === "\n";
  return text
    .split(between)
    .map((item) => (trims ? item.trim() : item))
    .filter((item) => item !== "");
}

function readScalar(option: Option, text: string, pathContext: PathContext): Scalar {
  switch (option.type) {
    case "flag": {
      const word = text.trim().toLowerCase();
      if (["1", "true", "yes", "on"].includes(word)) return true;
      if (["0", "false", "no", "off"].includes(word)) return false;
      throw new BadValue("takes true or false (also 1, 0, yes, no, on, off)");
    }
    case "integer":
      return readInteger(text, option);
    case "enum": {
      if (option.values.includes(text)) return text;
      const near = suggestion(text, option.values);
      throw new BadValue(`takes one of ${option.values.join(", ")}${near === "" ? "" : `.${near}`}`);
    }
    case "url":
      if (/^https?:/i.test(text) && URL.canParse(text)) return new URL(text);
      throw new BadValue("takes a URL that begins with http:// or https://");
    case "directory":
    case "file":
      return readPath(text, pathContext);
    case "string":
    case "secret": {
      const problem = option.check?.(text);
      if (problem !== undefined) throw new BadValue(problem);
      return text;
    }
  }
}

function readInteger(text: string, { min, max }: { readonly min?: number; readonly max?: number }): number {
  const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= (min ?? value) && value <= (max ?? value)) return value;
  if (min !== undefined && max !== undefined) throw new BadValue(`takes an integer from ${min} to ${max}`);
  if (min !== undefined) throw new BadValue(`takes an integer of at least ${min}`);
  throw new BadValue(max === undefined ? "takes an integer" : `takes an integer of at most ${max}`);
}

function readPath(text: string, { cwd, home, platform }: PathContext): string {
  const { resolve, join } = pathOf(platform);
  if (text.includes("\0")) throw new BadValue("takes a path without NUL bytes");
  if (/^file:/i.test(text)) {
    try {
      return resolve(fileURLToPath(text, { windows: platform === "win32" }));
    } catch {
      throw new BadValue("takes a path, or a file URI on this machine such as file:///home/me/work");
    }
  }
  if (!text.startsWith("~")) return resolve(cwd, text);
  if (!(platform === "win32" ? /^~([\\/]|$)/ : /^~(\/|$)/).test(text))
    throw new BadValue(
      "takes ~ only for your own home directory (write a name that starts with ~ as ./~name)",
    );
  try {
    return resolve(cwd, join(home ?? homedir(), text.slice(1)));
  } catch {
    // `homedir` throws if the user has no entry in the user database and HOME is not set.
    throw new BadValue("takes an absolute path here, because no home directory is known for ~");
  }
}

function pathOf(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

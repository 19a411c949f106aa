import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { NamedValue, Option } from "../define/options.ts";
import { suggestion } from "./suggestion.ts";

/** What the meaning of a path depends on. */
export interface Surroundings {
  /** Relative paths start here; absolute. */
  readonly cwd: string;
  /** What `~` stands for. Default: the user's home directory. */
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
}

export type Scalar = string | number | boolean | URL;

/** A value, or what is allowed instead, as a clause after "it": `takes an integer from 1 to 5`. */
export type Reading<Value> = { readonly value: Value } | { readonly problem: string };

/** Reads one text as a value of the option's type (one item, for a list). Nothing on the disk is touched. */
export function readValue(
  option: Option,
  text: string,
  surroundings: Surroundings,
): Reading<Scalar | NamedValue<Scalar>> {
  if (option.named === undefined) return readScalar(option, text, surroundings);
  const equals = text.indexOf("=");
  const name = text.slice(0, Math.max(equals, 0)).trim();
  const rest = text.slice(equals + 1).trim();
  if (name === "" || rest === "") return { problem: "takes NAME=VALUE" };
  const reading = readScalar(option, rest, surroundings);
  return "problem" in reading ? reading : { value: { name, value: reading.value } };
}

/** The values of an option that was not given: none, one, or a list's. */
export function defaultValues(option: Option, surroundings: Surroundings): readonly Scalar[] {
  if (option.type === "flag") return [option.default ?? false];
  const values = [option.default ?? []].flat();
  if (option.type !== "url" && option.type !== "directory" && option.type !== "file") return values;
  return values.flatMap((value) => {
    const reading = readScalar(option, String(value), surroundings);
    return "value" in reading ? [reading.value] : [];
  });
}

/** Splits a text of the command line into the items of a list option: names at commas, all else not at all. */
export function splitArgument(option: Option, text: string): string[] {
  return splitsAtCommas(option) ? items(text.split(",")) : [text];
}

/**
 * Splits the text of an environment variable into the items of a list option: names at commas, paths at the
 * platform's path delimiter as in PATH, everything else at line breaks.
 */
export function splitVariable(option: Option, text: string, platform: NodeJS.Platform): string[] {
  if (splitsAtCommas(option)) return items(text.split(","));
  const isPath = option.named === undefined && (option.type === "directory" || option.type === "file");
  return isPath
    ? text.split(pathOf(platform).delimiter).filter((item) => item !== "")
    : items(text.split(/\r?\n/));
}

/** The reverse of `splitVariable`. */
export function joinForVariable(option: Option, texts: readonly string[], platform: NodeJS.Platform): string {
  if (splitsAtCommas(option)) return texts.join(",");
  const isPath = option.named === undefined && (option.type === "directory" || option.type === "file");
  return texts.join(isPath ? pathOf(platform).delimiter : "\n");
}

/** Whether a value of this list option may hold several items, separated by commas. */
export function splitsAtCommas(option: Option): boolean {
  if (option.list !== true) return false;
  return (
    option.type === "enum" ||
    option.type === "integer" ||
    (option.type === "string" && option.commas !== false)
  );
}

function items(texts: readonly string[]): string[] {
  return texts.map((text) => text.trim()).filter((text) => text !== "");
}

/** `true` or `false` from the words people write in environment variables, or undefined. */
export function readBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  if (["0", "false", "no", "off"].includes(word)) return false;
  return undefined;
}

function readScalar(option: Option, text: string, surroundings: Surroundings): Reading<Scalar> {
  switch (option.type) {
    case "flag": {
      const value = readBoolean(text);
      return value === undefined
        ? { problem: "takes true or false (also 1, 0, yes, no, on, off)" }
        : { value };
    }
    case "integer":
      return readInteger(text, option.min, option.max);
    case "enum":
      return readEnum(text, option.values);
    case "url":
      return readUrl(text, ["http", "https"]);
    case "directory":
    case "file":
      return readPath(text, surroundings);
    case "string":
    case "secret": {
      const problem = option.check?.(text);
      return problem === undefined ? { value: text } : { problem };
    }
  }
}

function readInteger(
  text: string,
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): Reading<number> {
  const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return { value };
  if (min === Number.MIN_SAFE_INTEGER && max === Number.MAX_SAFE_INTEGER)
    return { problem: "takes an integer" };
  if (max === Number.MAX_SAFE_INTEGER) return { problem: `takes an integer of at least ${min}` };
  if (min === Number.MIN_SAFE_INTEGER) return { problem: `takes an integer of at most ${max}` };
  return { problem: `takes an integer from ${min} to ${max}` };
}

function readEnum(text: string, values: readonly string[]): Reading<string> {
  if (values.includes(text)) return { value: text };
  const near = suggestion(text, values);
  return { problem: `takes one of ${values.join(", ")}${near === "" ? "" : `.${near}`}` };
}

function readUrl(text: string, schemes: readonly string[]): Reading<URL> {
  const problem = `takes a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  if (!URL.canParse(text)) return { problem };
  const url = new URL(text);
  return schemes.includes(url.protocol.slice(0, -1)) ? { value: url } : { problem };
}

function readPath(text: string, { cwd, home, platform }: Surroundings): Reading<string> {
  const { resolve, join } = pathOf(platform);
  if (text.includes("\0")) return { problem: "takes a path without NUL bytes" };
  if (/^file:/i.test(text)) {
    try {
      return { value: resolve(fileURLToPath(text, { windows: platform === "win32" })) };
    } catch {
      return { problem: "takes a path, or a file URI of this machine such as file:///home/me/work" };
    }
  }
  if (!text.startsWith("~")) return { value: resolve(cwd, text) };
  const rest = text.slice(1);
  if (rest !== "" && !rest.startsWith("/") && !(platform === "win32" && rest.startsWith("\\"))) {
    return {
      problem: "takes ~ only for your own home directory (a name that begins with ~ is written ./~name)",
    };
  }
  const own = home ?? homeDirectory();
  return own === undefined
    ? { problem: "takes an absolute path here, because no home directory is known for ~" }
    : { value: resolve(cwd, join(own, rest)) };
}

/** `homedir` throws where the user has no entry in the user database and HOME is not set. */
function homeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

function pathOf(platform: NodeJS.Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** A value as an error shows it: quoted, control characters escaped, cut, without the password of a URL. */
export function shown(text: string): string {
  const harmless = text.replace(/\/\/\S*@/g, "//…@").replace(/[^\s/]*:[^\s/]*@/g, "…@");
  return JSON.stringify(harmless.length > 200 ? `${harmless.slice(0, 200)}…` : harmless);
}

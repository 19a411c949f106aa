import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { nearest } from "@refmcp/boundary/answer";
import { commonOptions, directoryOptions } from "../define/common-options.ts";
import type { NamedValue, Option, OptionTable } from "../define/options.ts";
import type { Servable } from "../define/server.ts";

/** The part of a server's definition that determines its options. */
export type OptionsOwner<Table extends OptionTable> = Pick<
  Servable<never, Table>,
  "name" | "options" | "directories" | "toolsets" | "slim"
>;

/** All options of a server, including the common ones, in the order of the help. */
export interface ServerOptions<Table extends OptionTable> {
  readonly server: string;
  readonly table: OptionTable;
  /** Only for the type of the server's own options. */
  readonly own: Table;
}

/**
 * Combines a server's own options with the common ones that apply to it.
 *
 * @throws {TypeError} if an option of the server has the name of a common one.
 */
export function serverOptions<Table extends OptionTable>(
  owner: OptionsOwner<Table>,
): ServerOptions<Table> {
  const { name, options, directories, toolsets = {}, slim } = owner;
  const { readOnly, confirm, tools, ...rest } = commonOptions;
  const before = directories === undefined ? {} : directoryTable(directories);
  const after: OptionTable = {
    readOnly,
    confirm,
    toolsets: toolsetOption(toolsets, slim !== undefined),
    tools,
    ...rest,
  };
  const clash = Object.keys(options).find((key) => key in before || key in after);
  if (clash !== undefined)
    throw new TypeError(`Option table of ${name}: ${clash} is already a common option.`);
  return { server: name, table: { ...before, ...options, ...after }, own: options };
}

function directoryTable({
  optional,
  form,
}: NonNullable<OptionsOwner<OptionTable>["directories"]>): OptionTable {
  const { directories, ...others } = directoryOptions;
  return {
    directories: { ...directories, ...(form !== undefined && { form }), ask: optional !== true },
    ...others,
  };
}

function toolsetOption(
  toolsets: NonNullable<OptionsOwner<OptionTable>["toolsets"]>,
  hasSlim: boolean,
): Option {
  const names = [...Object.keys(toolsets), ...(hasSlim ? ["slim"] : [])];
  const preset = names.filter((name) => toolsets[name]?.default === true);
  const known = [
    "all",
    preset.length === 0 ? "default" : `default (${preset.join(", ")})`,
    ...names,
  ];
  return {
    type: "enum",
    list: true,
    values: ["all", "default", ...names],
    valueName: "LIST",
    heading: "Common",
    description: `Offer the tools of these toolsets instead of the default ones: ${known.join(", ")}.`,
  };
}

/** An option of a table with its names, for the parser, the help and the generators. */
export interface OptionEntry {
  readonly key: string;
  readonly option: Option;
  /** The flag without dashes: `max-read-chars`. */
  readonly flag: string;
  /** Environment variables in order of precedence; the first is `REFMCP_<SERVER>_<FLAG>`. Empty for `env: false`. */
  readonly variables: readonly string[];
  /** Placeholder for its value in help, "" for a flag: `DIR`, `ask|never`, `NAME=URL`. */
  readonly valueName: string;
}

/** The prefix of a server's environment variables, `REFMCP_FILESYSTEM_`; `REFMCP_` for `refmcp` itself, without a name. */
export function variablePrefix(server: string): string {
  return server === "" ? "REFMCP_" : `REFMCP_${server.replaceAll("-", "_").toUpperCase()}_`;
}

export function optionEntries(server: string, table: OptionTable): OptionEntry[] {
  return Object.entries(table).map(([key, option]) => {
    const flag = option.flag ?? key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const automatic = variablePrefix(server) + flag.replaceAll(/[-.]/g, "_").toUpperCase();
    const variables = option.env === false ? [] : [automatic, ...(option.env ?? [])];
    const plain = option.type === "enum" ? option.values.join("|") : VALUE_NAMES[option.type];
    const name = option.valueName ?? plain;
    const valueName = option.named === undefined || name.includes("=") ? name : `NAME=${name}`;
    return { key, option, flag, variables, valueName };
  });
}

const VALUE_NAMES = {
  directory: "DIR",
  file: "FILE",
  url: "URL",
  integer: "N",
  string: "TEXT",
  secret: "SECRET",
  flag: "",
} as const;

export function isRepeatable(option: Option): boolean {
  return option.list === true || option.named !== undefined;
}

/** The default for the help (`20,000`, `on`), or undefined if there is none worth showing. */
export function defaultText(option: Option): string | undefined {
  if (option.type === "flag") return option.default === true ? "on" : undefined;
  return option.default === undefined ? undefined : [option.default].flat().map(plain).join(", ");
}

interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** A range for the help, or undefined: `1,000 to 80,000`. */
export function rangeText({ min, max }: Range): string | undefined {
  if (min !== undefined && max !== undefined) return `${plain(min)} to ${plain(max)}`;
  if (min !== undefined) return `at least ${plain(min)}`;
  return max === undefined ? undefined : `at most ${plain(max)}`;
}

const plain = (value: string | number) =>
  typeof value === "number" ? value.toLocaleString("en-US") : value;

export interface PathContext {
  /** Relative paths start here; absolute. */
  readonly cwd: string;
  /** What `~` expands to. Default: the user's home directory. */
  readonly home?: string | undefined;
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
export function joinForVariable(
  option: Option,
  texts: readonly string[],
  platform: NodeJS.Platform,
): string {
  return texts.join(separator(option, platform));
}

function separator(option: Option, platform: NodeJS.Platform): string {
  if (splitsAtCommas(option)) return ",";
  const isPath =
    option.named === undefined && (option.type === "directory" || option.type === "file");
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
      throw new BadValue(
        `takes one of ${option.values.join(", ")}${near === "" ? "" : `.${near}`}`,
      );
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

function readInteger(text: string, { min, max }: Range): number {
  const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= (min ?? value) && value <= (max ?? value))
    return value;
  if (min !== undefined && max !== undefined)
    throw new BadValue(`takes an integer from ${min} to ${max}`);
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
      throw new BadValue(
        "takes a path, or a file URI on this machine such as file:///home/me/work",
      );
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

const pathOf = (platform: NodeJS.Platform) => (platform === "win32" ? path.win32 : path.posix);

/**
 * ` Did you mean --read-only?`, or "" if nothing is similar. Up to three names that begin with the word are preferred.
 *
 * @param prefix put before each name
 */
export function suggestion(word: string, candidates: readonly string[], prefix = ""): string {
  const longer =
    word.length > 2 ? candidates.filter((candidate) => candidate.startsWith(word)) : [];
  const near = longer.length > 0 && longer.length <= 3 ? longer : nearest(word, candidates, 1);
  if (near.length === 0) return "";
  const names = near.map((name) => prefix + name);
  return ` Did you mean ${[names.slice(0, -1).join(", "), ...names.slice(-1)].filter(Boolean).join(" or ")}?`;
}

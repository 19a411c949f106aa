import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { digits, suggestion } from "@refmcp/boundary/answer";
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
  readonly ownTable: Table;
}

/**
 * Combines a server's own options with the common ones that apply to it.
 *
 * @throws {TypeError} if an option of the server has the name of a common one.
 */
export function serverOptions<Table extends OptionTable>(
  owner: OptionsOwner<Table>,
): ServerOptions<Table> {
  const { name, options } = owner;
  const { readOnly, confirm, ...rest } = commonOptions;
  const before = owner.directories === undefined ? {} : directoryTable(owner.directories);
  const after: OptionTable = { readOnly, confirm, toolsets: toolsetOption(owner), ...rest };
  const clash = Object.keys(options).find((key) => key in before || key in after);
  if (clash !== undefined)
    throw new TypeError(`Option table of ${name}: ${clash} is already a common option.`);
  return { server: name, table: { ...before, ...options, ...after }, ownTable: options };
}

function directoryTable({
  optional,
  form = directoryOptions.directories.form,
}: NonNullable<OptionsOwner<OptionTable>["directories"]>): OptionTable {
  const directories = { ...directoryOptions.directories, form, ask: optional !== true };
  return { ...directoryOptions, directories };
}

function toolsetOption({ toolsets = {}, slim }: OptionsOwner<OptionTable>): Option {
  const names = [...Object.keys(toolsets), ...(slim === undefined ? [] : ["slim"])];
  const preset = names.filter((name) => toolsets[name]?.default === true);
  const standard = preset.length === 0 ? "default" : `default (${preset.join(", ")})`;
  return {
    type: "enum",
    list: true,
    values: ["all", "default", ...names],
    valueName: "LIST",
    heading: "Common",
    description: `Offer the tools of these toolsets instead of the default ones: ${["all", standard, ...names].join(", ")}.`,
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
    const typeName = option.type === "enum" ? option.values.join("|") : VALUE_NAMES[option.type];
    const name = option.valueName ?? typeName;
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

/** A range for the help, or undefined: `1,000 to 80,000`. */
export function rangeText({ min, max }: { min?: number; max?: number }): string | undefined {
  if (min !== undefined && max !== undefined) return `${plain(min)} to ${plain(max)}`;
  if (min !== undefined) return `at least ${plain(min)}`;
  return max === undefined ? undefined : `at most ${plain(max)}`;
}

const plain = (value: string | number) => (typeof value === "number" ? digits(value) : value);

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

/** What separates a list option's items in a variable: commas, the delimiter of PATH, or line breaks. */
export function separator(option: Option, platform: NodeJS.Platform): string {
  if (splitsAtCommas(option)) return ",";
  const isPath = option.type === "directory" || option.type === "file";
  return isPath && option.named === undefined ? pathOf(platform).delimiter : "\n";
}

/** The items of a list. */
export function items(text: string, delimiter: string): string[] {
  // A path may begin or end with a space.
  const trims = delimiter === "," || delimiter === "\n";
  return text
    .split(delimiter)
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
    case "integer": {
      const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = option;
      const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      const range = rangeText(option);
      throw new BadValue(`takes an integer${range === undefined ? "" : ` (${range})`}`);
    }
    case "enum": {
      if (option.values.includes(text)) return text;
      const hint = suggestion(text, option.values);
      throw new BadValue(
        `takes one of ${option.values.join(", ")}${hint === "" ? "" : `.${hint}`}`,
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

function readPath(text: string, { cwd, home, platform }: PathContext): string {
  const { resolve, join } = pathOf(platform);
  if (text.includes("\0")) throw new BadValue("takes a path without NUL bytes");
  try {
    if (/^file:/i.test(text))
      return resolve(fileURLToPath(text, { windows: platform === "win32" }));
    if (!text.startsWith("~")) return resolve(cwd, text);
    if (/^~([\\/]|$)/.test(text)) return resolve(cwd, join(home ?? homedir(), text.slice(1)));
  } catch {
    // Another machine's file URI, or no known home directory.
  }
  throw new BadValue(
    "takes a path, a file URI on this machine, or ~ for your own home directory (a name that starts with ~ is written ./~name)",
  );
}

const pathOf = (platform: NodeJS.Platform) => (platform === "win32" ? path.win32 : path.posix);

import { commonOptions, directoryOptions } from "@refmcp/core/internal/define/common-options";
import type { Option, OptionTable } from "@refmcp/core/internal/define/options";
import type { Servable } from "@refmcp/core/internal/define/server";

/** The part of a server's definition that determines its options. */
export type OptionsOwner<Table extends OptionTable> = Pick<
  Servable<never, Table>,
  "name" | "options" | "directories" | "toolsets"
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
export function serverOptions<Table extends OptionTable>(owner: OptionsOwner<Table>): ServerOptions<Table> {
  const { name, options, directories, toolsets = {} } = owner;
  const { readOnly, confirm, tools, ...rest } = commonOptions;
  const before: OptionTable = directories === undefined ? {} : directoryOptions;
  const after: OptionTable = { readOnly, confirm, toolsets: toolsetOption(toolsets), tools, ...rest };
  const clash = Object.keys(options).find((key) => key in before || key in after);
  if (clash !== undefined)
    throw new TypeError(`Option table of ${name}: ${clash} is already a common option.`);
  return { server: name, table: { ...before, ...options, ...after }, own: options };
}

function toolsetOption(toolsets: NonNullable<OptionsOwner<OptionTable>["toolsets"]>): Option {
  const names = Object.keys(toolsets);
  const preset = names.filter((name) => toolsets[name]?.default === true);
  const known = ["all", preset.length === 0 ? "default" : `default (${preset.join(", ")})`, ...names];
  return {
    type: "enum",
    list: true,
    values: ["all", "default", ...names],
    valueName: "LIST",
    heading: "Tools",
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

/** The prefix of a server's environment variables: `REFMCP_FILESYSTEM_`. */
export function variablePrefix(server: string): string {
  return `REFMCP_${server.replaceAll("-", "_").toUpperCase()}_`;
}

/** The entries of a table in its order. */
export function optionEntries(server: string, table: OptionTable): OptionEntry[] {
  return Object.entries(table).map(([key, option]) => {
    const flag = option.flag ?? key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const automatic = variablePrefix(server) + flag.replaceAll("-", "_").toUpperCase();
    const variables = option.env === false ? [] : [automatic, ...(option.env ?? [])];
    return { key, option, flag, variables, valueName: valueName(option) };
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

function valueName(option: Option): string {
  const plain = option.type === "enum" ? option.values.join("|") : VALUE_NAMES[option.type];
  const name = option.valueName ?? plain;
  return option.named === undefined || name.includes("=") ? name : `NAME=${name}`;
}

/** Whether an option takes several values. */
export function isRepeatable(option: Option): boolean {
  return option.list === true || option.named !== undefined;
}

/** The default for the help (`20,000`, `on`), or undefined if there is none worth showing. */
export function defaultText(option: Option): string | undefined {
  if (option.type === "flag") return option.default === true ? "on" : undefined;
  return option.default === undefined ? undefined : [option.default].flat().map(plain).join(", ");
}

/** A range for the help, or undefined: `1,000 to 80,000`. */
export function rangeText({
  min,
  max,
}: {
  min?: number | undefined;
  max?: number | undefined;
}): string | undefined {
  if (min !== undefined && max !== undefined) return `${plain(min)} to ${plain(max)}`;
  if (min !== undefined) return `at least ${plain(min)}`;
  return max === undefined ? undefined : `at most ${plain(max)}`;
}

function plain(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString("en-US") : value;
}

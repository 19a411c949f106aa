import path from "node:path";
import type { Option, OptionTable } from "../define/options.ts";
import type { ServerDefinition } from "../define/server.ts";
import type { Tool } from "../define/tool.ts";
import {
  defaultText,
  isRepeatable,
  type OptionEntry,
  optionEntries,
  rangeText,
  type ServerOptions,
  splitsAtCommas,
  variablePrefix,
} from "./options.ts";
import { leftWidth, shellWord, twoColumns, usableColumns, wrap } from "./text-layout.ts";

export interface HelpFacts
  extends Pick<
    ServerDefinition<never>,
    "title" | "packageName" | "version" | "description" | "toolsets"
  > {
  readonly options: ServerOptions<OptionTable>;
  /** Whether only the options for HTTP are shown. Default: all others. */
  readonly isHttp?: boolean;
  /** The file that node runs in a clone, since the package may not be on npm. */
  readonly bin?: string | undefined;
  /** What follows the options: heading → rows. Default: the commands for a shell. */
  readonly sections?:
    | Readonly<Record<string, readonly (readonly [left: string, right: string])[]>>
    | undefined;
}

/**
 * How the user starts the server: `node servers/git/dist/bin.js` in a clone, else `refmcp-server-git`.
 *
 * @param bin the file that node runs in a clone
 */
export function startedAs(packageName: string, bin: string | undefined): string {
  if (bin === undefined) return packageName.replace(/^@/, "").replaceAll("/", "-");
  const relative = path.relative(process.cwd(), bin);
  return `node ${shellWord(relative.startsWith("..") || relative === "" ? bin : relative)}`;
}

/** The commands for a shell, which run once instead of serving a host. */
const SECTIONS: NonNullable<HelpFacts["sections"]> = {
  Commands: [
    ["call TOOL [arguments]", "Call a tool; call --help shows how."],
    ["tools [TOOL]", "List the tools, or show the arguments of one."],
  ],
};

/**
 * The text of `--help`.
 *
 * @param columns the width of the terminal, if there is one
 */
export function renderHelp(facts: HelpFacts, columns?: number): string {
  const { options, isHttp = false, toolsets = {}, sections = SECTIONS } = facts;
  const width = usableColumns(columns);
  const entries = optionEntries(options.server, options.table).filter(
    ({ option }) => option.hidden !== true && (option.heading === "HTTP") === isHttp,
  );
  const rows = new Map<string, (readonly [left: string, right: string])[]>();
  const add = (heading: string, left: string, right: string) =>
    rows.set(heading, [...(rows.get(heading) ?? []), [left, right]]);
  for (const entry of entries)
    add(entry.option.heading ?? "Options", label(entry), descriptionWithFacts(entry));
  if (!isHttp) {
    for (const [name, { description, default: isDefault }] of Object.entries(toolsets))
      add("Toolsets", name, isDefault ? `${description} (default)` : description);
    for (const [heading, list] of Object.entries(sections)) rows.set(heading, [...list]);
  }
  const labels = [...rows.values()].flatMap((list) => list.map(([label]) => label));
  const column = leftWidth(labels, Math.min(26, Math.floor(width / 3)));
  const positional = entries.find(({ option }) => option.positional === true);
  const operand = positional === undefined ? "" : ` [${positional.valueName}...]`;
  const note = `An option can also be set as an environment variable: ${variablePrefix(options.server)} and its name, in capitals and with underscores. Directories are separated as in PATH. The command line takes precedence.`;
  const lines = [
    ...wrap(`${facts.title} ${facts.version} (${facts.packageName})`, width),
    "",
    ...wrap(facts.description, width),
    "",
    `Usage: ${startedAs(facts.packageName, facts.bin)} [options]${operand} [command]`,
    ...[...rows].flatMap(([heading, list]) => ["", heading, ...twoColumns(list, column, width)]),
    "",
    ...wrap(note, width),
  ];
  return `${lines.join("\n")}\n`;
}

/** How the option is written: `DIR, --root DIR`, `--[no-]journal`. */
export function label({ option, flag, valueName }: OptionEntry): string {
  if (option.type === "flag") return option.default === true ? `--[no-]${flag}` : `--${flag}`;
  const flagText = `--${flag} ${valueName}`;
  return option.positional === true ? `${valueName}, ${flagText}` : flagText;
}

/** Whether it takes several values, and their range. */
export function takes(option: Option): string[] {
  const several = splitsAtCommas(option) ? "comma-separated" : "repeatable";
  const range = option.type === "integer" ? rangeText(option) : undefined;
  return [...(isRepeatable(option) ? [several] : []), ...(range === undefined ? [] : [range])];
}

/** The description with range, default and additional variables: `… (1 to 10; default 5; also DEPTH)`. */
function descriptionWithFacts({ option, variables }: OptionEntry): string {
  const preset = defaultText(option) ?? "";
  const facts = [
    ...takes(option),
    ...(preset === "" ? [] : [`default ${preset}`]),
    ...(variables.length > 1 ? [`also ${variables.slice(1).join(", ")}`] : []),
  ];
  return facts.length === 0 ? option.description : `${option.description} (${facts.join("; ")})`;
}

export type ToolRow = Pick<Tool<never>, "name" | "effect" | "description">;

/**
 * The text of the command `tools`: name, effect and first sentence of each tool in the order given.
 *
 * @param columns the width of the terminal, if there is one
 */
export function renderToolTable(tools: readonly ToolRow[], columns?: number): string {
  if (tools.length === 0) return "These options leave no tools.\n";
  const names = Math.max(...tools.map(({ name }) => name.length));
  const rows = tools.map(
    ({ name, effect, description }) =>
      [`${name.padEnd(names)}  ${effect.padEnd(7)}`, firstSentence(description)] as const,
  );
  return `${twoColumns(rows, names + 9, usableColumns(columns)).join("\n")}\n`;
}

/** The text up to the first period that ends a sentence: before a space and a capital, or at the end. */
function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return /^.*?[.!?](?= [\p{Lu}"`(]|$)/u.exec(line)?.[0] ?? line;
}

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
  readonly all: ServerOptions<OptionTable>;
  /** Only the options with this heading. Default: all but those for HTTP. */
  readonly topic?: "HTTP" | undefined;
  /** The file that node runs in a clone, since the package may not be on npm. */
  readonly bin?: string | undefined;
  /** What follows the options: heading → rows. Default: the commands for a shell. */
  readonly sections?:
    | Readonly<Record<string, readonly (readonly [left: string, right: string])[]>>
    | undefined;
}

/** `@refmcp/server-git` → `refmcp-server-git`. */
export function programName(packageName: string): string {
  return packageName.replace(/^@/, "").replaceAll("/", "-");
}

/**
 * How the user starts the server: `node servers/git/dist/bin.js` in a clone, else the program's name.
 *
 * @param bin the file that node runs in a clone
 */
export function startedAs(
  packageName: string,
  bin: string | undefined,
  cwd = process.cwd(),
): string {
  if (bin === undefined) return programName(packageName);
  const relative = path.relative(cwd, bin);
  return `node ${shellWord(relative.startsWith("..") || relative === "" ? bin : relative)}`;
}

/**
 * The text of `--help`.
 *
 * @param columns the width of the terminal, if there is one
 */
export function renderHelp(facts: HelpFacts, columns?: number): string {
  const width = usableColumns(columns);
  const program = startedAs(facts.packageName, facts.bin);
  const isHttp = ({ option }: OptionEntry) => option.heading === "HTTP";
  const entries = optionEntries(facts.all.server, facts.all.table).filter(
    (entry) => entry.option.hidden !== true && isHttp(entry) === (facts.topic === "HTTP"),
  );
  const positional = entries.find((entry) => entry.option.positional === true);
  const operand =
    positional === undefined
      ? ""
      : ` [${positional.valueName}${isRepeatable(positional.option) ? "..." : ""}]`;
  const lines = [
    ...wrap(`${facts.title} ${facts.version} (${facts.packageName})`, width),
    "",
    ...wrap(facts.description, width),
    "",
    `Usage: ${program} [options]${operand} [command]`,
    ...optionSections(entries, width),
    ...(facts.topic === undefined ? otherSections(facts, width) : []),
    "",
    ...wrap(environmentNote(facts.all.server, entries), width),
    ...(facts.topic === undefined ? endOf(facts, positional) : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** The toolsets and the commands. */
function otherSections({ toolsets = {}, sections = SECTIONS }: HelpFacts, width: number): string[] {
  return [
    ...toolsetSection(toolsets, width),
    ...Object.entries(sections).flatMap(([heading, rows]) => [
      "",
      heading,
      ...twoColumns(rows, Math.min(26, Math.floor(width / 3)), width),
    ]),
  ];
}

/** Examples, and where to read more. */
function endOf({ bin, packageName }: HelpFacts, positional: OptionEntry | undefined): string[] {
  const start = bin === undefined ? `npx -y ${packageName}` : `node ${shellWord(bin)}`;
  const example = `  ${start} ${positional?.option.type === "directory" ? "~/work " : ""}`;
  return [
    "",
    "Examples",
    `${example}--read-only`,
    `${example}--print-config`,
    ...(bin === undefined ? ["", `Read more: https://www.npmjs.com/package/${packageName}`] : []),
  ];
}

/** The commands for a shell, which run once instead of serving a host. */
const SECTIONS: NonNullable<HelpFacts["sections"]> = {
  Commands: [
    ["call TOOL [arguments]", "Call a tool; call TOOL --help shows its arguments."],
    ["tools [TOOL]", "List the tools, or show the arguments of one."],
    ["read URI", "Print a resource."],
  ],
};

function optionSections(entries: readonly OptionEntry[], width: number): string[] {
  const left = leftWidth(entries.map(label), Math.min(26, Math.floor(width / 3)));
  const headingOf = ({ option }: OptionEntry) => option.heading ?? "Options";
  return [...new Set(entries.map(headingOf))].flatMap((heading) => {
    const own = entries.filter((entry) => headingOf(entry) === heading);
    const rows = own.map((entry) => [label(entry), explained(entry)] as const);
    return ["", heading, ...twoColumns(rows, left, width)];
  });
}

/** How the option is written: `DIR, --root DIR`, `--[no-]journal`. */
function label({ option, flag, valueName }: OptionEntry): string {
  if (option.type === "flag") return option.default === true ? `--[no-]${flag}` : `--${flag}`;
  const written = `--${flag} ${valueName}`;
  return option.positional === true ? `${valueName}, ${written}` : written;
}

/** Whether it takes several values, and their range. */
function takes(option: Option): string[] {
  const several =
    isRepeatable(option) && (splitsAtCommas(option) ? "comma-separated" : "repeatable");
  const range = option.type === "integer" ? rangeText(option) : undefined;
  return [several, range].filter((fact) => typeof fact === "string");
}

/** The description with range, default and additional variables: `… (1 to 10; default 5; also DEPTH)`. */
function explained({ option, variables }: OptionEntry): string {
  const facts = takes(option);
  const preset = defaultText(option);
  if (preset !== undefined && preset !== "") facts.push(`default ${preset}`);
  if (variables.length > 1) facts.push(`also ${variables.slice(1).join(", ")}`);
  return withFacts(option.description, facts);
}

function withFacts(description: string, facts: readonly string[]): string {
  return facts.length === 0 ? description : `${description} (${facts.join("; ")})`;
}

function toolsetSection(toolsets: NonNullable<HelpFacts["toolsets"]>, width: number): string[] {
  const rows = Object.entries(toolsets).map(
    ([name, set]) =>
      [name, set.default ? `${set.description} (default)` : set.description] as const,
  );
  return rows.length === 0
    ? []
    : ["", "Toolsets", ...twoColumns(rows, leftWidth(Object.keys(toolsets), 26), width)];
}

function environmentNote(server: string, entries: readonly OptionEntry[]): string {
  const prefix = variablePrefix(server);
  const example = entries.find(
    ({ option, variables }) =>
      option.type === "flag" && option.default !== true && variables.length > 0,
  )?.variables[0];
  const shown = example === undefined ? "" : `: ${example}=1`;
  const paths = entries.some(({ option }) => option.list === true && option.type === "directory");
  return `Every option that affects serving can also be set as an environment variable: ${prefix} and its name${shown}.${paths ? " Directories are separated as in PATH." : ""} The command line takes precedence.`;
}

export type ToolRow = Pick<Tool<never>, "name" | "effect" | "description">;

/**
 * The text of the command `tools`: name, effect and first sentence of each tool in the order given, then totals.
 *
 * @param columns the width of the terminal, if there is one
 */
export function renderToolTable(tools: readonly ToolRow[], columns?: number): string {
  if (tools.length === 0) return "These options leave no tools.\n";
  const names = Math.max(...tools.map(({ name }) => name.length));
  const effects = Math.max(...tools.map(({ effect }) => effect.length));
  const rows = tools.map(
    ({ name, effect, description }) =>
      [`${name.padEnd(names)}  ${effect.padEnd(effects)}`, firstSentence(description)] as const,
  );
  const counts = ["read", "add", "change", "destroy"]
    .map((effect) => [tools.filter((tool) => tool.effect === effect).length, effect] as const)
    .filter(([count]) => count > 0);
  const total = `${tools.length} ${tools.length === 1 ? "tool" : "tools"}: ${counts.map((count) => count.join(" ")).join(", ")}.`;
  return `${[...twoColumns(rows, names + effects + 2, usableColumns(columns)), "", total].join("\n")}\n`;
}

/** The text up to the first period that ends a sentence: before a space and a capital, or at the end. */
export function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return /^.*?[.!?](?= [\p{Lu}"`(]|$)/u.exec(line)?.[0] ?? line;
}

/** The Markdown table of a server's options for its README, without hidden options. */
export function renderOptionTable(server: string, table: OptionTable): string {
  const rows = optionEntries(server, table)
    .filter(({ option }) => option.hidden !== true)
    .map((entry) => [
      code(label(entry)),
      withFacts(entry.option.description, takes(entry.option)),
      code(defaultText(entry.option) ?? ""),
      entry.variables.map(code).join(", "),
    ]);
  return [
    ["Option", "What it does", "Default", "Environment"],
    ["---", "---", "---", "---"],
    ...rows,
  ]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`)
    .join("");
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

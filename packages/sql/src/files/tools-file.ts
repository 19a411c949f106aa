import { readFile } from "node:fs/promises";
import { JsonText, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { readPage } from "../answer/read.ts";
import { type Calling, runChanges } from "../change/run.ts";
import type { Databases } from "../databases.ts";
import type { Kind } from "../kind.ts";
import { changeOutput } from "../tools/execute.ts";
import { queryOutput } from "../tools/query.ts";

const MAX_BYTES = 1_048_576;
const MAX_TOOLS = 200;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const TYPES = ["string", "integer", "float", "number", "boolean", "array"] as const;

const parameter = z.strictObject({
  name: z.string().regex(/^[A-Za-z_]\w{0,63}$/, "takes letters, digits and _"),
  type: z.enum(TYPES),
  description: z.string().min(1).max(1_000),
  required: z.boolean().optional(),
  default: z.union([scalar, z.array(scalar)]).optional(),
  allowed_values: z.array(scalar).min(1).max(1_000).optional(),
  min_value: z.number().optional(),
  max_value: z.number().optional(),
  items: z
    .looseObject({ type: z.enum(["string", "integer", "float", "number", "boolean"]) })
    .optional(),
});

const entry = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "takes 1 to 64 letters, digits, _ and -"),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(10).max(2_000),
  statement: z.string().min(1).max(100_000),
  source: z.string().optional(),
  parameters: z.array(parameter).max(100).default([]),
  max_rows: z.int().min(1).max(10_000).default(200),
});

type Parameter = z.output<typeof parameter>;
export interface FileTool extends Omit<z.output<typeof entry>, "title" | "parameters"> {
  readonly title: string;
  /** The names of its parameters, in order. */
  readonly names: readonly string[];
  readonly input: z.ZodObject;
}

/** How a server checks the statements of tools from a file. */
export interface ToolsFileRules {
  /** Names of databases. */
  readonly sources: readonly string[];
  /** Whether a statement reads or changes. @throws ToolError unless it is allowed */
  judge(sql: string): Promise<"read" | "change">;
  /** @throws ToolError if the placeholders don't match the parameters */
  checkParams(tool: FileTool): unknown;
}

type Taken = readonly { readonly name: string; readonly aliases?: readonly string[] }[];
type Input = Readonly<Record<string, unknown>>;

/**
 * The tools of a file, as definitions for the server. Mistakes are found at start; each call checks its statement again.
 *
 * @throws ToolError for the first mistake in the file
 */
export async function toolsFrom(
  path: string | undefined,
  taken: Taken,
  kind: Kind,
  rules: ToolsFileRules,
) {
  if (path === undefined) return [];
  const reading = new Set<FileTool>();
  const check = async (tool: FileTool) => {
    if ((await rules.judge(tool.statement)) === "read") reading.add(tool);
    await rules.checkParams(tool);
  };
  const tools = await readToolsFile(path, { sources: rules.sources, taken, check });
  return tools.map((tool) => {
    const { name, title, description, input, names, statement: sql, source: database } = tool;
    const facts = { name, title, description, openWorld: false, input };
    const bound = (given: Input) => {
      const values = names.map((parameter) => given[parameter] ?? null);
      return { sql, params: kind.paramsFor(sql, names, values), database };
    };
    if (!reading.has(tool))
      return {
        ...facts,
        effect: "destroy" as const,
        needs: "allowWrite",
        output: changeOutput,
        run: (given: Input, databases: Databases, call: Calling) =>
          runChanges(databases, { statements: [bound(given)], database, dryRun: false }, call),
      };
    return {
      ...facts,
      effect: "read" as const,
      output: queryOutput,
      async run(given: Input, databases: Databases, { signal, budget }: Calling) {
        const cursor = typeof given.cursor === "string" ? given.cursor : undefined;
        const asked = { ...bound(given), maxRows: tool.max_rows, cursor, budget, signal };
        return new JsonText(await readPage(databases, asked));
      },
    };
  });
}

/**
 * Reads tools from a YAML or JSON file in the format of DBHub's custom tools: `tools` is a list.
 *
 * @throws ToolError `invalid` with the file, line and key of the first mistake
 */
export async function readToolsFile(
  path: string,
  rules: {
    readonly sources: readonly string[];
    readonly taken: Taken;
    check(tool: FileTool): Promise<void>;
  },
): Promise<FileTool[]> {
  const tools: FileTool[] = [];
  const taken = new Set(rules.taken.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  for (const { value, place } of await entriesOf(path)) {
    const parsed = entry.safeParse(value, { reportInput: true });
    if (!parsed.success) throw mistake(path, place, parsed.error.issues[0]);
    const tool = toolOf(parsed.data, (key, problem) => wrong(path, place(key), key, problem));
    const where = (key: string, problem: string) => wrong(path, place([key]), [key], problem);
    if (taken.has(tool.name))
      throw where("name", `the name ${tool.name} is already taken by another tool.`);
    if (tool.source !== undefined && !rules.sources.includes(tool.source))
      throw where(
        "source",
        `no database ${JSON.stringify(oneLine(tool.source))}; the databases are ${rules.sources.join(", ") || "none"}.`,
      );
    taken.add(tool.name);
    await rules.check(tool).catch((error: unknown) => {
      throw error instanceof ToolError
        ? where("statement", `${tool.name}: ${error.message}`)
        : error;
    });
    tools.push(tool);
  }
  if (tools.length > MAX_TOOLS)
    throw wrong(path, undefined, [], `it has ${tools.length} tools; the limit is ${MAX_TOOLS}.`);
  return tools;
}

type Key = readonly PropertyKey[];
type Place = (key: Key) => number | undefined;

/** The entries of a file with the lines of their keys. */
async function entriesOf(path: string): Promise<{ value: unknown; place: Place }[]> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new ToolError("not_found", `The tools file ${oneLine(path)} can't be read.`, {
      cause,
      hint: "Check --tools-file.",
    });
  });
  if (text.length > MAX_BYTES) throw wrong(path, undefined, [], "it is larger than 1 MiB.");
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const [error] = document.errors;
  if (error !== undefined) throw wrong(path, lines.linePos(error.pos[0]).line, [], error.message);
  let value: unknown;
  try {
    // Without aliases: a short file with them can expand to a huge value.
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    throw wrong(path, undefined, [], "it has aliases (*name), which are not supported.");
  }
  const tools: unknown =
    typeof value === "object" && value !== null && "tools" in value ? value.tools : undefined;
  if (!Array.isArray(tools)) throw wrong(path, 1, [], "it has no tools: add tools: with a list.");
  return tools.map((value: unknown, index) => ({
    value,
    place: (key) => lineOf(document, lines, ["tools", index, ...key]),
  }));
}

/** The line of a key, or of the nearest key that encloses it. */
function lineOf(document: Document, lines: LineCounter, path: Key): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const parent = document.getIn(path.slice(0, -1), true);
    const key = path.at(-1);
    const pair = isMap(parent)
      ? parent.items.find(({ key: name }) => isScalar(name) && name.value === key)
      : undefined;
    const node =
      pair !== undefined && isScalar(pair.key)
        ? pair.key
        : document.getIn(path.slice(0, length), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range))
      return lines.linePos(Number(node.range[0])).line;
  }
  return undefined;
}

function toolOf(
  { parameters, title, ...tool }: z.output<typeof entry>,
  fail: (key: Key, problem: string) => ToolError,
): FileTool {
  const shape: Record<string, z.ZodType> = {};
  for (const [index, one] of parameters.entries()) {
    const key = ["parameters", index];
    if (one.name === "cursor" || Object.hasOwn(shape, one.name))
      throw fail([...key, "name"], `the name ${one.name} is already taken.`);
    const field = fieldOf(one);
    if (one.default !== undefined && !field.safeParse(one.default).success)
      throw fail([...key, "default"], `the default of ${one.name} is not one of its values.`);
    const optional = one.required === false ? field.optional() : field;
    shape[one.name] = (one.default === undefined ? optional : field.default(one.default)).describe(
      one.description,
    );
  }
  const names = parameters.map(({ name }) => name);
  return {
    ...tool,
    title: title ?? tool.name.replace(/[_-]+/g, " ").replace(/^./, (first) => first.toUpperCase()),
    names,
    input: z.strictObject({ ...shape, cursor: fields.cursor }),
  };
}

function fieldOf({ type, items, allowed_values, min_value, max_value }: Parameter): z.ZodType {
  if (allowed_values !== undefined) return z.literal(allowed_values);
  if (type === "array")
    return z.array(items === undefined ? scalar : plain(items.type)).max(10_000);
  const field = plain(type);
  if (!(field instanceof z.ZodNumber)) return field;
  const bounded = min_value === undefined ? field : field.min(min_value);
  return max_value === undefined ? bounded : bounded.max(max_value);
}

function plain(type: Exclude<Parameter["type"], "array">) {
  if (type === "string") return z.string().max(1_000_000);
  if (type === "boolean") return z.boolean();
  return type === "integer" ? z.int() : z.number();
}

function mistake(path: string, place: Place, issue: z.core.$ZodIssue | undefined): ToolError {
  const key = issue?.path ?? [];
  if (issue?.code === "unrecognized_keys") {
    const [unknown = ""] = issue.keys;
    const known = Object.keys((key.length > 0 ? parameter : entry).shape).join(", ");
    const at = [...key, unknown];
    return wrong(path, place(at), at, `unknown key; the keys are ${known}.`);
  }
  const problem = issue?.input === undefined ? "it is missing." : `${issue.message}.`;
  return wrong(path, place(key), key, problem);
}

function wrong(path: string, line: number | undefined, key: Key, problem: string): ToolError {
  const where = [
    `--tools-file ${oneLine(path)}`,
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(key.length === 0 ? [] : [key.join(".")]),
  ];
  return new ToolError("invalid", `${where.join(", ")}: ${oneLine(problem)}`);
}

import { readFile } from "node:fs/promises";
import { JsonText, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import type { Calling, Changing, Question } from "./results.ts";
import { changeOutput, queryOutput } from "./tools.ts";

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
  /** The values of its parameters, in order; null for omitted ones. */
  values(input: Readonly<Record<string, unknown>>): unknown[];
}

/** How a server checks and runs the statements of tools from a file. */
export interface ToolsFileRules<Context> {
  /** Names of databases. */
  readonly sources: readonly string[];
  readonly allowWrite: boolean;
  /** Each call checks its statement again. @throws ToolError unless it is a reading or changing statement that is allowed */
  passReading(sql: string): unknown;
  passWriting(sql: string): unknown;
  /** What to throw for a statement that `passReading` refused, without `allowWrite`. */
  needsWrite(refused: unknown): unknown;
  /** @throws ToolError if the placeholders don't match the parameters */
  checkParams(tool: FileTool): unknown;
  /** The values of the statement's placeholders; default: those of the parameters, in order. */
  params?(tool: FileTool, values: readonly unknown[]): unknown[];
  /** The JSON text of `queryOutput`. */
  query(context: Context, question: Question): Promise<string>;
  runChanges(
    context: Context,
    changing: Changing,
    call: Calling,
  ): Promise<z.output<typeof changeOutput>>;
}

type Taken = readonly { readonly name: string; readonly aliases?: readonly string[] }[];

/**
 * The tools of a file, as definitions for the server. Mistakes are found at start.
 *
 * @throws ToolError for the first mistake in the file
 */
export async function toolsFrom<Context>(
  path: string | undefined,
  taken: Taken,
  rules: ToolsFileRules<Context>,
) {
  if (path === undefined) return [];
  const reading = new Set<FileTool>();
  const check = async (tool: FileTool) => {
    try {
      await rules.passReading(tool.statement);
      reading.add(tool);
    } catch (error) {
      if (!rules.allowWrite) throw rules.needsWrite(error);
      await rules.passWriting(tool.statement);
    }
    await rules.checkParams(tool);
  };
  const tools = await readToolsFile(path, { ...rules, taken, check });
  return tools.map((tool) => {
    const {
      name,
      title,
      description,
      input,
      statement: sql,
      source: database,
      max_rows: maxRows,
    } = tool;
    const facts = { name, title, description, openWorld: false, input };
    type Input = Readonly<Record<string, unknown>>;
    const bound = (given: Input) => {
      const values = tool.values(given);
      return { sql, params: rules.params?.(tool, values) ?? values };
    };
    if (reading.has(tool))
      return {
        ...facts,
        effect: "read" as const,
        output: queryOutput,
        async run(given: Input, context: Context, { signal, budget }: Calling) {
          const cursor = typeof given.cursor === "string" ? given.cursor : undefined;
          const request = { database, maxRows, cursor, format: "rows" as const, budget, signal };
          return new JsonText(await rules.query(context, { ...bound(given), ...request }));
        },
      };
    return {
      ...facts,
      effect: "destroy" as const,
      needs: "allowWrite",
      output: changeOutput,
      run: (given: Input, context: Context, call: Calling) =>
        rules.runChanges(context, { statements: [bound(given)], database, dryRun: false }, call),
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
  rules: Pick<ToolsFileRules<never>, "sources"> & {
    taken: Taken;
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
  return tools.map((one: unknown, index) => ({
    value: one,
    place: (key) => lineOf(document, lines, ["tools", index, ...key]),
  }));
}

/** The line of a key, or of the nearest key that encloses it. */
function lineOf(document: Document, lines: LineCounter, path: Key): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const parent = document.getIn(path.slice(0, -1), true);
    const key = path.at(-1);
    const pair = isMap(parent)
      ? parent.items.find(({ key: one }) => isScalar(one) && one.value === key)
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
    values: (input) => names.map((name) => input[name] ?? null),
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

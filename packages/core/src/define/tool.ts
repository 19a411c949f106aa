import { type JsonText, shareAcrossBundles } from "@refmcp/boundary/answer";
import type * as z from "zod";
import type { Call } from "./call.ts";
import type { ContentBlock, Meta, ResourceLink } from "./content.ts";
import type { Effect } from "./effect.ts";

/** A block of an answer: text, an image, audio, a resource or a link to one. */
export type Content = ContentBlock;
/** A link to a resource that accompanies an answer. */
export type Link = ResourceLink;

export type Awaitable<Value> = Value | Promise<Value>;

/** A data tool's value with links and, if the JSON is hard to read, a separate text. */
export class DataAnswer<Value> {
  readonly value: Value;
  readonly links: readonly Link[];
  readonly text: string | undefined;

  constructor(value: Value, links: readonly Link[], text: string | undefined) {
    this.value = value;
    this.links = links;
    this.text = text;
  }
}

shareAcrossBundles(DataAnswer, "DataAnswer");

/**
 * Attaches `resource_link` blocks to a data tool's value. Some hosts drop links, so include each in the value too.
 *
 * @param text replaces the JSON text block; it must contain everything that the value does.
 */
export function withLinks<Value>(
  value: Value,
  links: readonly Omit<Link, "type">[],
  text?: string,
): DataAnswer<Value> {
  return new DataAnswer(
    value,
    links.map((link): Link => ({ type: "resource_link", ...link })),
    text,
  );
}

/** What `run` returns: a plain value that matches `output`, or text or blocks if there is no `output`. */
export type ToolReturn<Output> = Output extends z.ZodObject
  ? z.input<Output> | DataAnswer<z.input<Output>> | JsonText
  : string | readonly Content[];

/** A tool's definition without its schemas and code. */
export interface ToolFacts {
  /** snake_case, unique over all servers. */
  readonly name: string;
  readonly title: string;
  /** First sentence: what it does and when to use it. */
  readonly description: string;
  readonly effect: Effect;
  /** Whether it accesses anything beyond local files and databases; by default it does not. */
  readonly openWorld?: boolean;
  /** Whether repeating a call has no further effect; always true for read-only tools. */
  readonly idempotent?: boolean;
  /** Older names that can still be called; they are not listed. */
  readonly aliases?: readonly string[];
  /** Other names for arguments, such as those of similar tools: other name → listed name, `{ query: "sql" }`. */
  readonly argumentAliases?: Readonly<Record<string, string>>;
  /** The toolset that it belongs to, if the server has toolsets. */
  readonly toolset?: string;
  /** The key of the flag option that enables the tool, for example `allowWrite`. */
  readonly needs?: string;
  /** The view that shows its answers in hosts with MCP Apps: a folder in the package's `views/`. */
  readonly view?: string;
  /** Its `_meta` in `tools/list`: metadata for protocol extensions. */
  readonly meta?: Meta;
}

/** All names by which a tool can be called. */
export const namesOf = ({ name, aliases = [] }: ToolFacts): string[] => [name, ...aliases];

export interface Tool<
  Context,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject | undefined = z.ZodObject | undefined,
> extends ToolFacts {
  readonly input: Input;
  readonly output?: Output;
  run(input: z.output<Input>, context: Context, call: Call): Awaitable<ToolReturn<Output>>;
}

/** The JSON Schemas of a tool as `tools/list` shows them. */
export interface ToolSchemas {
  inputSchema: { type: "object"; [keyword: string]: unknown };
  outputSchema?: { type: "object"; [keyword: string]: unknown };
}

/** A tool in a list, before its code is loaded. */
export interface ToolOutline extends ToolFacts {
  readonly schemas: ToolSchemas;
}

/**
 * The `tool` function of a server, `export const tool = toolFor<Files>()`: it returns its argument and infers the types
 * of `input`, `output` and `run`.
 */
export function toolFor<Context>() {
  return <Input extends z.ZodObject, Output extends z.ZodObject | undefined = undefined>(
    definition: Tool<Context, Input, Output>,
  ): Tool<Context, Input, Output> => definition;
}

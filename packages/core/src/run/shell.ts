import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { isJson, manyLines, oneLine, visibleJson } from "@refmcp/boundary/answer";
import { listedTools } from "../bind/server.ts";
import { namesOf, type ToolOutline } from "../define/tool.ts";
import { Caller, type Send } from "../engine/caller.ts";
import { Engine } from "../engine/engine.ts";
import { isObject, show } from "../engine/message.ts";
import { MODERN_VERSIONS } from "../engine/revision.ts";
import { META } from "../engine/wire.ts";
import { renderToolTable } from "./help.ts";
import { unknownNames } from "./option-messages.ts";
import type { ShellWords } from "./parse-options.ts";
import type { RunningService } from "./prepare.ts";
import { twoColumns, usableColumns, wrap } from "./text-layout.ts";

/** Exit codes: the tool failed; the command line or the request is invalid; interrupted. */
const FAILED = 1;
const USAGE_ERROR = 2;
const INTERRUPTED = 130;
/** How long closing may take before the process exits anyway, in milliseconds. */
const CLOSING_MS = 2_000;
/** Progress is shown at most this often, and not of a short call. */
const PROGRESS_MS = 1_000;

/** An error in a command; the message is for stderr. */
class UsageError extends Error {}

type Json = Readonly<Record<string, unknown>>;

interface Outcome {
  readonly output: string;
  /** Default: 0. */
  readonly code?: number;
}

/**
 * Runs one command of a server's command line in this process, and ends the process.
 *
 * @param program how the user started it, for messages
 */
export async function runShell(
  service: RunningService,
  words: ShellWords,
  stdout: { write(data: string, done: () => void): unknown },
  program: string,
): Promise<never> {
  process.once("SIGINT", () => process.exit(INTERRUPTED));
  const { output, code = 0 } = await outcomeOf(service, words, program).catch((error: unknown) => {
    if (error instanceof UsageError) return { output: `${error.message}\n`, code: USAGE_ERROR };
    throw error;
  });
  // Only a terminal can be controlled by text from outside; a file or a pipe gets every byte.
  const { isTTY } = code === 0 ? process.stdout : process.stderr;
  const text = isTTY ? manyLines(output) : output;
  const stream = code === 0 ? stdout : process.stderr;
  await new Promise<void>((resolve) => stream.write(text, () => resolve()));
  await Promise.race([service.close(), wait(CLOSING_MS)]);
  process.exit(code);
}

async function outcomeOf(
  { service, tools }: RunningService,
  { command, rest }: ShellWords,
  program: string,
): Promise<Outcome> {
  const words = rest.filter((word) => word !== "--json");
  const isFull = words.length < rest.length;
  const [name, ...argumentWords] = words;
  const width = process.stdout.columns;
  if (name === undefined || name.startsWith("-")) {
    const table = isFull ? pretty(listedTools(tools)) : renderToolTable(tools, width);
    if (command === "tools") return { output: table };
    const usage = `Usage: ${program} call TOOL [name=value ... | JSON | -] [--json]\n\nThe arguments are name=value words, a JSON object, or - for a JSON object from stdin. --json prints the full result\nas a host receives it. ${program} tools TOOL shows a tool's arguments.\n`;
    return { output: usage, code: name === undefined ? USAGE_ERROR : 0 };
  }
  const tool = tools.find((candidate) => namesOf(candidate).includes(name));
  if (tool === undefined) {
    const names = tools.map((candidate) => candidate.name);
    const see = `${program} tools`;
    throw new UsageError(unknownNames("this command", "tool", [name], names, see) ?? name);
  }
  if (command === "tools" || argumentWords.includes("--help"))
    return { output: isFull ? pretty(listedTools([tool])[0]) : usageOf(tool, program) };
  const members = `"name":${JSON.stringify(name)},"arguments":${argumentsOf(tool, argumentWords)}`;
  const result = await call(service, members);
  const output = isFull ? pretty(result) : asText(result);
  return { output, code: result.isError === true ? FAILED : 0 };
}

/** A tool's description and arguments. */
function usageOf({ name, description, schemas }: ToolOutline, program: string): string {
  const width = usableColumns(process.stdout.columns);
  const { properties, required = [] } = schemas.inputSchema;
  const rows = Object.entries<Json>(Object(properties)).map(([key, schema]) => {
    const values = Array.isArray(schema.enum) ? schema.enum.join("|") : (schema.type ?? "JSON");
    const must = Array.isArray(required) && required.includes(key) ? ", required" : "";
    return [`${key}=`, `${schema.description ?? ""} (${values}${must})`] as const;
  });
  const usage = `Usage: ${program} call ${name} [name=value ... | JSON | -] [--json]`;
  const lines = [...wrap(description, width), "", usage, "", ...twoColumns(rows, 20, width)];
  return `${lines.join("\n")}\n`;
}

/**
 * A call's arguments as JSON text, so that integers keep all their digits: `max_count=5 path=a path=b` (a repeated name is
 * a list), a JSON object, or `-` for one from stdin. Which names there are, and what fits, is for the server to check.
 *
 * @throws UsageError for a word that is neither.
 */
function argumentsOf({ schemas }: ToolOutline, words: readonly string[]): string {
  const [first = "", ...moreWords] = words;
  const json = first === "-" ? readFileSync(0, "utf8") : first;
  if (json.trimStart().startsWith("{") && isJson(json) && moreWords.length === 0) return json;
  const properties: Json = Object(schemas.inputSchema.properties);
  const texts = new Map<string, string[]>();
  for (const word of words) {
    const [, name, text = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name === undefined) {
      const what = word === "-" ? "No JSON object in stdin" : `Unexpected argument ${show(word)}`;
      throw new UsageError(`${what}: write name=value, or one JSON object.`);
    }
    texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  const members = [...texts].map(([name, values]) => {
    const { type, items }: Json = Object(properties[name]);
    const [text = ""] = values;
    const isList = type === "array" && !(values.length === 1 && text.startsWith("["));
    const value = isList
      ? `[${values.map((item) => jsonOf(Object(items).type, item)).join(",")}]`
      : jsonOf(type, values.at(-1) ?? "");
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(",")}}`;
}

/** Text that is JSON of another type than a string is sent as such; any other text as a string. */
function jsonOf(type: unknown, text: string): string {
  return type !== "string" && isJson(text) ? text : JSON.stringify(text);
}

/**
 * Calls a tool as a client in the same process, which uses the protocol like any other and cannot be asked. Progress goes
 * to stderr.
 *
 * @param members of the request's params, as JSON
 * @throws UsageError
 */
async function call(service: RunningService["service"], members: string): Promise<Json> {
  const meta = {
    [META.version]: MODERN_VERSIONS[0],
    [META.clientInfo]: { name: "shell", version: service.identity.version },
    [META.capabilities]: {},
    progressToken: 1,
  };
  const params = `{${members},"_meta":${JSON.stringify(meta)}}`;
  let shownAt = performance.now();
  const { result, error } = await new Promise<Json>((resolve) => {
    const send: Send = (text) => {
      const message: Json = Object(JSON.parse(text ?? "null"));
      if (message.id === 1) return resolve(message);
      const { progress, total, message: note = "" }: Json = Object(message.params);
      if (progress === undefined || performance.now() - shownAt < PROGRESS_MS) return;
      shownAt = performance.now();
      const share = total === undefined ? progress : `${progress} of ${total}`;
      process.stderr.write(`${oneLine(`${share} ${note}`)}\n`);
    };
    const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    new Engine(service).serve(request, new Caller(), send);
  });
  if (isObject(error)) throw new UsageError(String(error.message));
  return Object(result);
}

/** A result as text for a person: text blocks, indented JSON for data, URIs for links. */
function asText({ content, structuredContent: data }: Json): string {
  const json = data === undefined ? undefined : JSON.stringify(data);
  const texts = (Array.isArray(content) ? content : []).filter(isObject).map((block) => {
    if (block.type === "resource_link") return `${block.uri}  ${block.title ?? block.name}\n`;
    if (block.type !== "text") return `[${block.mimeType ?? block.type}; --json has its bytes]\n`;
    const text = String(block.text);
    if (json !== undefined && text.endsWith(json))
      return text.slice(0, -json.length) + pretty(data);
    return text.endsWith("\n") ? text : `${text}\n`;
  });
  return texts.join("");
}

/** A value as indented JSON. */
function pretty(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, undefined, 2))}\n`;
}

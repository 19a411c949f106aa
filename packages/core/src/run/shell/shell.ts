import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { manyLines } from "@refmcp/boundary/answer";
import { listedTools } from "../../bind/listing.ts";
import type { ServerDefinition } from "../../define/server.ts";
import { Caller, type Send } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { isObject } from "../../engine/message.ts";
import { MODERN_VERSIONS } from "../../engine/revision.ts";
import { type ListedTool, META } from "../../engine/wire.ts";
import { programName, renderToolTable } from "../help.ts";
import { rangeText } from "../options.ts";
import { type ShellWords, unknownNames } from "../parse-options.ts";
import type { Served } from "../prepare.ts";
import { leftWidth, twoColumns, usableColumns, wrap } from "../text-layout.ts";
import { propertiesOf, readArguments, UsageError } from "./arguments.ts";
import { asText, pretty } from "./output.ts";
import { ProgressLine } from "./progress.ts";
import { Terminal } from "./terminal.ts";

/** Exit codes: the tool or resource failed; the command line is invalid; interrupted. */
const FAILED = 1;
const WRONG = 2;
const INTERRUPTED = 130;
type Definition = Pick<ServerDefinition<never>, "packageName" | "version">;

/** How long closing may take before the process exits anyway, in milliseconds. */
const CLOSING_MS = 2_000;

/**
 * Runs one command of a server's command line in this process, and ends the process.
 *
 * @param program how the user started it, for messages
 */
export async function runShell(
  definition: Definition,
  served: Served,
  words: ShellWords,
  stdout: { write(data: string | Uint8Array, done: () => void): unknown },
  program: string,
): Promise<never> {
  let code = 0;
  process.once("SIGINT", () => process.exit(INTERRUPTED));
  try {
    const { output, failed } = await new ShellClient(definition, served, program).run(words);
    if (failed) process.stderr.write(shownOn(process.stderr, output));
    else
      await new Promise<void>((resolve) => stdout.write(shownOn(process.stdout, output), resolve));
    code = failed ? FAILED : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(shownOn(process.stderr, `${error.message}\n`));
    code = WRONG;
  }
  await Promise.race([served.close(), wait(CLOSING_MS)]);
  process.exit(code);
}

/** Output is changed only for a terminal, which text from outside could control; a file or a pipe gets every byte. */
function shownOn({ isTTY }: NodeJS.WriteStream, output: string | Uint8Array): string | Uint8Array {
  return isTTY
    ? manyLines(typeof output === "string" ? output : Buffer.from(output).toString())
    : output;
}

interface Outcome {
  readonly output: string | Uint8Array;
  readonly failed: boolean;
}

/** A client of the server in the same process, which uses the protocol like any other. */
class ShellClient {
  readonly #definition: Definition;
  readonly #tools: Served["tools"];
  readonly #program: string;
  readonly #engine: Engine;
  readonly #caller: Caller;
  readonly #waiting = new Map<unknown, (answer: Readonly<Record<string, unknown>>) => void>();
  readonly #terminal = new Terminal();
  readonly #progress = new ProgressLine(process.stderr);
  #lastId = 0;

  /** @param program how the user started it, for messages */
  constructor(definition: Definition, { service, tools }: Served, program: string) {
    this.#definition = definition;
    this.#tools = tools;
    this.#program = program;
    this.#engine = new Engine(service);
    this.#caller = new Caller({ send: this.#received });
  }

  async run({ command, rest }: ShellWords): Promise<Outcome> {
    switch (command) {
      case "call":
        return this.#call(rest);
      case "read":
        return this.#read(rest);
      case "tools":
        return { output: await this.#list(rest), failed: false };
    }
  }

  async #call([name, ...words]: readonly string[]): Promise<Outcome> {
    if (name === "--help" || name === "-h") return { output: this.#help(), failed: false };
    if (name === undefined || name.startsWith("-"))
      throw new UsageError(
        `call needs a tool name: ${this.#program} call TOOL [arguments]. ${this.#program} tools lists them.`,
      );
    const tool = await this.#tool(name);
    const given = readArguments(tool.name, tool.inputSchema, words, () => readFileSync(0, "utf8"));
    if (given.help) return { output: this.#usage(tool), failed: false };
    if (given.missing.length > 0) {
      const list = given.missing.map((missing) => `--${missing}`).join(" and ");
      throw new UsageError(
        `${tool.name} needs ${list}. See ${this.#program} call ${tool.name} --help.`,
      );
    }
    const result = await this.#request(
      "tools/call",
      `"name":${JSON.stringify(tool.name)},"arguments":${given.json}`,
    );
    const failed = result.isError === true;
    return { output: given.isJson ? pretty(result) : asText(result), failed };
  }

  async #read([uri, ...words]: readonly string[]): Promise<Outcome> {
    if (uri === undefined || words.some((word) => word !== "--json"))
      throw new UsageError(`read needs a resource URI: ${this.#program} read URI [--json].`);
    const result = await this.#request("resources/read", `"uri":${JSON.stringify(uri)}`);
    if (words.length > 0) return { output: pretty(result), failed: false };
    const parts: { text?: string; blob?: string }[] = Array.isArray(result.contents)
      ? result.contents
      : [];
    const bytes = parts.map(({ text, blob }) =>
      Buffer.from(text ?? blob ?? "", text === undefined ? "base64" : "utf8"),
    );
    return { output: Buffer.concat(bytes), failed: false };
  }

  async #list([name, ...words]: readonly string[]): Promise<string> {
    const tools = await listedTools(this.#tools);
    if (name === "--json") return pretty(tools);
    if (name === undefined) return renderToolTable(this.#tools, process.stdout.columns);
    const tool = await this.#tool(name);
    return words.includes("--json") ? pretty(tool) : this.#usage(tool);
  }

  async #tool(name: string): Promise<ListedTool> {
    const facts = this.#tools.find((one) => one.name === name || one.aliases?.includes(name));
    const [listed] = facts === undefined ? [] : await listedTools([facts]);
    if (listed !== undefined) return listed;
    const known = this.#tools.map((one) => one.name);
    throw new UsageError(
      unknownNames("this command", "tool", [name], known, `${this.#program} tools`) ?? name,
    );
  }

  /** The help of `call`. */
  #help(): string {
    const width = usableColumns(process.stdout.columns);
    const lines = [
      `Usage: ${this.#program} call TOOL [arguments] [--args JSON|-] [--json]`,
      "",
      ...wrap(
        `Arguments are written --name value; required ones may be given in order, without names. --args takes all of them as a JSON object, - reads it from stdin. --json prints the full result as a host receives it. ${this.#program} call TOOL --help shows a tool's arguments.`,
        width,
      ),
      "",
      renderToolTable(this.#tools, process.stdout.columns).trimEnd(),
    ];
    return `${lines.join("\n")}\n`;
  }

  #usage(tool: ListedTool): string {
    const width = usableColumns(process.stdout.columns);
    const properties = propertiesOf(tool.inputSchema);
    const required = properties
      .filter((property) => property.required)
      .map(({ name }) => ` --${name} …`);
    const rows = properties.map(({ name, schema, required: must }) => {
      const facts = [
        must ? "required" : undefined,
        choices(schema),
        rangeOf(schema),
        schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
      ].filter((fact) => fact !== undefined);
      return [
        `--${name}`,
        `${schema.description ?? ""}${facts.length === 0 ? "" : ` (${facts.join("; ")})`}`,
      ] as const;
    });
    const left = leftWidth(
      rows.map(([label]) => label),
      26,
    );
    const lines = [
      ...wrap(tool.description, width),
      "",
      `Usage: ${this.#program} call ${tool.name}${required.join("")} [--args JSON|-] [--json]`,
      ...(rows.length === 0 ? [] : ["", ...twoColumns(rows, left, width)]),
    ];
    return `${lines.join("\n")}\n`;
  }

  /**
   * Sends a request and puts the server's questions to the user at the terminal until there is a result.
   *
   * @throws UsageError
   */
  async #request(method: string, members: string): Promise<Readonly<Record<string, unknown>>> {
    let more = "";
    for (;;) {
      const answer = await this.#send(method, members + more);
      this.#progress.clear();
      if (isObject(answer.error)) throw new UsageError(String(answer.error.message));
      const result = isObject(answer.result) ? answer.result : {};
      if (result.resultType !== "input_required") return result;
      const answers: Record<string, unknown> = {};
      for (const [key, question] of Object.entries(Object(result.inputRequests)))
        answers[key] = await this.#terminal.ask(isObject(question) ? question.params : undefined);
      more = `,"requestState":${JSON.stringify(result.requestState)},"inputResponses":${JSON.stringify(answers)}`;
    }
  }

  #send(method: string, members: string): Promise<Readonly<Record<string, unknown>>> {
    this.#lastId += 1;
    const id = this.#lastId;
    // Only a user at a terminal can be asked.
    const hasTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true;
    const meta = {
      [META.version]: MODERN_VERSIONS[0],
      [META.clientInfo]: {
        name: programName(this.#definition.packageName),
        version: this.#definition.version,
      },
      [META.capabilities]: hasTerminal ? { elicitation: { form: {}, url: {} } } : {},
      progressToken: id,
    };
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#engine.serve(
        `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${members},"_meta":${JSON.stringify(meta)}}}`,
        this.#caller,
        this.#received,
      );
    });
  }

  readonly #received: Send = (json) => {
    const message: unknown = JSON.parse(json ?? "null");
    if (!isObject(message)) return;
    if (message.method === "notifications/progress") this.#progress.show(Object(message.params));
    else this.#waiting.get(message.id)?.(message);
  };
}

function choices({
  enum: values,
  type,
  items,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (Array.isArray(values)) return values.join("|");
  if (type === "array")
    return isObject(items) && items.type === "object" ? "JSON; repeatable" : "repeatable";
  return type === "object"
    ? "JSON"
    : typeof type === "string" && type !== "string"
      ? type
      : undefined;
}

/** zod gives an unbounded integer JavaScript's limits, which are not worth showing. */
function rangeOf({ minimum, maximum }: Readonly<Record<string, unknown>>): string | undefined {
  const [min, max] = [minimum, maximum].map((bound) =>
    typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : undefined,
  );
  return rangeText({ min, max });
}

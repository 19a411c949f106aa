import { createInterface } from "node:readline";
import { manyLines, oneLine } from "@refmcp/boundary/answer";
import { isObject } from "../../engine/message.ts";

/** The answer to a form (MCP, "Elicitation"). */
export interface FormAnswer {
  readonly action: "accept" | "decline";
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Asks a tool's questions at the terminal: the message, then one line for each field. */
export class Terminal {
  #lines: AsyncIterator<string> | undefined;

  async ask(params: unknown): Promise<FormAnswer> {
    const { message, requestedSchema, url } = Object(params);
    process.stderr.write(`${manyLines(String(message))}\n`);
    if (typeof url === "string") {
      const answer = await this.#line(`Open ${url} in a browser, then press Enter (n to refuse): `);
      return { action: answer === undefined || /^no?$/i.test(answer) ? "decline" : "accept" };
    }
    const content: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(Object(Object(requestedSchema).properties))) {
      if (!isObject(field)) continue;
      const answer = await this.#line(prompt(name, field));
      if (answer === undefined) return { action: "decline" };
      if (field.type === "boolean") {
        if (!/^y(es)?$/i.test(answer)) return { action: "decline" };
        content[name] = true;
      } else if (answer !== "") content[name] = field.type === "string" ? answer : Number(answer);
    }
    return { action: "accept", content };
  }

  /** The line that the user types; undefined at the end of the input. */
  async #line(question: string): Promise<string | undefined> {
    process.stderr.write(oneLine(question));
    this.#lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : value.trim();
  }
}

function prompt(
  name: string,
  { type, title, enum: values }: Readonly<Record<string, unknown>>,
): string {
  const label = typeof title === "string" ? title : name;
  if (type === "boolean") return `${label} [y/N] `;
  return Array.isArray(values) ? `${label} (${values.join(", ")}): ` : `${label}: `;
}

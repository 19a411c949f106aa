import { JsonText, ToolError } from "@refmcp/boundary/answer";
import { type Call, promptFor, resourceFor, type Tool } from "@refmcp/core";
import * as z from "zod";
import type { Memory } from "./graph/memory.ts";
import { bounded } from "./graph/read/page.ts";
import { storable } from "./graph/text.ts";
import type { ChangeFacts } from "./graph/types.ts";
import type { Deleted, Hard, Question } from "./graph/write/remove.ts";

/**
 * A tool of this server. Its output schema lists what a client needs to continue; a response may contain more, which
 * would otherwise cost every model tokens. The first response of a session also tells the user about the memory's
 * location. A reading tool's answer is sent unchanged: it stays within the budget itself, and its tests check it.
 */
export function tool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: {
    readonly output: Output;
    run(input: z.output<Input>, memory: Memory, call: Call): Promise<z.input<Output>>;
  } & Omit<Tool<Memory, Input, Output>, "openWorld" | "output" | "run">,
) {
  return {
    ...definition,
    openWorld: false,
    output: definition.output.loose(),
    run: async (input: z.output<Input>, memory: Memory, call: Call) => {
      const answer = { ...(await definition.run(input, memory, call)), ...memory.takeNotice() };
      if (definition.effect === "read") return new JsonText(JSON.stringify(answer));
      return bounded(answer, call.budget);
    },
  };
}

export const resource = resourceFor<Memory>();
export const prompt = promptFor<Memory>();

/** A count or an id in an output. Not `z.int()`, whose bounds of ±2^53 would cost every model tokens. */
export const count = z.number();

/** An entity in a response; observations and other fields are added. */
export const entity = z.looseObject({ name: z.string(), entityType: z.string() });

export const relation = z.object({ from: z.string(), to: z.string(), relationType: z.string() });

export const relationInput = z.strictObject(relation.shape);

/** A list in an input, 1 to 5,000 items. */
export const list = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(5_000);

export const source = z
  .string()
  .optional()
  .describe("Source of the fact, for example a person or URL.");

export const hard = z.boolean().default(false).describe("Erase permanently; asks the user.");

/** Shared by the deleting tools. */
export const deletion = {
  effect: "destroy",
  idempotent: true,
  output: z.object({ success: z.boolean(), message: z.string() }),
} as const;

/** The facts of a change for the journal. */
export function factsOf(action: string, from?: string) {
  if (from !== undefined && (from.trim() === "" || from.length > 500))
    throw new ToolError(
      "invalid",
      `source has ${from.length} characters; use 1 to 500, or omit it.`,
    );
  return { action, source: from && storable(from) };
}

/** Runs a deletion; a hard one only after the user confirmed exactly what would be lost. */
export async function deleting(
  call: Call,
  facts: ChangeFacts,
  isHard: boolean,
  run: (options: Hard & ChangeFacts) => Promise<Deleted | Question>,
): Promise<Deleted> {
  const options = { ...facts, hard: isHard };
  let done = await run(options);
  if ("question" in done) {
    const { question } = done;
    await call.confirm(question);
    done = await run({ ...options, agreed: question });
  }
  if ("question" in done) throw new TypeError("a confirmed deletion asked again");
  return done;
}

/**
 * A time from an input → milliseconds since 1970.
 *
 * @throws ToolError `invalid` for an invalid ISO 8601 date or time.
 */
export function timeOf(text: string | undefined, argument: string): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new ToolError(
    "invalid",
    `${argument}: ${JSON.stringify(text.slice(0, 40))} is not a valid date.`,
    {
      hint: "Use an ISO 8601 date or time: 2026-07-28 or 2026-07-28T09:00:00Z.",
    },
  );
}

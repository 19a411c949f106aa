import {
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt as ListedPrompt,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { nearest } from "../answer/errors.ts";
import type { Prompt } from "../define/prompt.ts";
import type { Completer } from "../define/resource.ts";
import { InputNeeded } from "./asking.ts";
import { parseArguments } from "./input.ts";
import { protocolError } from "./resource.ts";
import { messageFor } from "./revision.ts";
import type { Session } from "./session.ts";

/** A prompt as `prompts/list` shows it. */
export function listedPrompt(prompt: Prompt<never>): ListedPrompt {
  return {
    name: prompt.name,
    title: prompt.title,
    description: prompt.description,
    arguments: Object.entries(prompt.args.shape).map(([name, schema]) => ({
      name,
      ...(schema.description === undefined ? {} : { description: schema.description }),
      required: !schema.safeParse(undefined).success,
    })),
  };
}

/** @throws ProtocolError -32602 for a prompt that does not exist, with near names. */
export function findPrompt<Context>(prompts: readonly Prompt<Context>[], name: string): Prompt<Context> {
  const prompt = prompts.find((candidate) => candidate.name === name);
  if (prompt !== undefined) return prompt;
  const near = nearest(
    name,
    prompts.map((candidate) => candidate.name),
  );
  const suggestion = near.length === 0 ? "See prompts/list." : `Did you mean ${near.join(" or ")}?`;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown prompt ${JSON.stringify(name)}. ${suggestion}`,
  );
}

/** The completer of a prompt's argument, if it has one. */
export function promptCompleter<Context>(
  prompt: Prompt<Context>,
  argument: string,
): Completer<Context> | undefined {
  const complete: Readonly<Record<string, Completer<Context> | undefined>> = prompt.complete ?? {};
  return Object.hasOwn(complete, argument) ? complete[argument] : undefined;
}

/** Answers one `prompts/get`. */
export async function getPrompt<Context>(
  session: Session<Context>,
  prompt: Prompt<Context>,
  given: Readonly<Record<string, string>> | undefined,
  context: ServerContext,
): Promise<GetPromptResult | InputRequiredResult> {
  const asking = session.asking(context, () => `${prompt.name} ${JSON.stringify(given ?? {})}`);
  try {
    const args = parseArguments(prompt.name, prompt.args, given);
    const running = session.startCall(context, asking);
    const returned = await running.limited(async () => {
      await session.roots.settle(asking);
      return prompt.run(args, await session.runtime.open(), running.call);
    });
    if (asking.isOpen) return await asking.inputRequired();
    const messages = typeof returned === "string" ? [userMessage(returned)] : returned;
    return {
      description: prompt.description,
      messages: messages.map((message) => messageFor(session.version, message)),
    };
  } catch (error) {
    if (error instanceof InputNeeded || asking.isOpen) return await asking.inputRequired();
    throw protocolError(error, `prompt ${prompt.name}`, session.runtime.log);
  }
}

function userMessage(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text: text.toWellFormed() } };
}

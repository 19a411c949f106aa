import type { PromptMessage } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import type { LazyPrompt, Prompt } from "../define/prompt.ts";
import type { Completer } from "../define/resource.ts";
import { isObject } from "../protocol/messages.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { GetPromptResult } from "../protocol/wire.ts";
import { InputRequired } from "./asking.ts";
import { runHandler } from "./call.ts";
import { parseArguments } from "./input.ts";
import { blockFor } from "./result.ts";
import type { Runtime } from "./runtime.ts";
import { unknownName } from "./tool.ts";

/** @throws ProtocolError -32602 for a prompt that does not exist, with similar names. */
export async function findPrompt<Context>(
  prompts: readonly (Prompt<Context> | LazyPrompt<Context>)[],
  name: string,
): Promise<Prompt<Context>> {
  const prompt = prompts.find((candidate) => candidate.name === name);
  if (prompt !== undefined) return "load" in prompt ? prompt.load() : prompt;
  const known = prompts.map((candidate) => candidate.name);
  throw unknownName("prompt", name, known);
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
  runtime: Runtime<Context, OptionTable>,
  prompt: Prompt<Context>,
  request: ClientRequest,
): Promise<GetPromptResult | InputRequired> {
  const given = isObject(request.params.arguments) ? request.params.arguments : {};
  const args = parseArguments(prompt.name, prompt.args, given);
  const subject = () => `${prompt.name} ${JSON.stringify(given)}`;
  const returned = await runHandler(runtime, request, subject, (context, call) =>
    prompt.run(args, context, call),
  );
  if (returned instanceof InputRequired) return returned;
  const messages: readonly PromptMessage[] =
    typeof returned === "string"
      ? [{ role: "user", content: { type: "text", text: returned.toWellFormed() } }]
      : returned;
  return {
    description: prompt.description,
    messages: messages.map(({ role, content }) => ({ role, content: blockFor(request.revision, content) })),
  };
}

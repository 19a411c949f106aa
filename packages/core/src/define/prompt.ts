import type * as z from "zod";
import type { Call } from "./call.ts";
import type { PromptMessage } from "./content.ts";
import type { Completer } from "./resource.ts";
import type { Awaitable } from "./tool.ts";

/** Arguments of a prompt: only strings, since the protocol supports no other type. */
export type PromptArguments = z.ZodObject<
  Record<string, z.ZodType<string | undefined, string | undefined>>
>;

export interface Prompt<Context, Arguments extends PromptArguments = PromptArguments> {
  /** snake_case, unique over all servers. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly args: Arguments;
  readonly complete?: { readonly [Name in keyof z.output<Arguments>]?: Completer<Context> };
  /** One user message as a string, or messages with embedded resources. */
  run(
    args: z.output<Arguments>,
    context: Context,
    call: Call,
  ): Awaitable<string | readonly PromptMessage[]>;
}

/** A prompt as `prompts/list` shows it. */
export interface ListedPrompt {
  name: string;
  title: string;
  description: string;
  arguments: { name: string; description?: string; required: boolean }[];
}

/** The `prompt` function of a server: it returns its argument and infers the types of `args` and `run`. */
export function promptFor<Context>() {
  return <Arguments extends PromptArguments>(
    definition: Prompt<Context, Arguments>,
  ): Prompt<Context, Arguments> => definition;
}

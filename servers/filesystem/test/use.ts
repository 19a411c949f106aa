import type { Tool } from "@refmcp/core";
import { fakeCall, type RecordedCall } from "@refmcp/testing";
import type * as z from "zod";
import type { Files } from "../src/files/files.ts";

/** Calls a tool as core does: its input is parsed, with the defaults filled in. */
export async function use<Input extends z.ZodObject, Output extends z.ZodObject | undefined>(
  tool: Tool<Files, Input, Output>,
  files: Files,
  args: z.input<Input>,
  call: RecordedCall = fakeCall(),
) {
  return tool.run(tool.input.parse(args), files, call);
}

/** The texts of an answer's blocks. */
export function texts(answer: string | readonly { type: string }[]): string[] {
  if (typeof answer === "string") return [answer];
  return answer.flatMap((block) =>
    "text" in block && typeof block.text === "string" ? [block.text] : [],
  );
}

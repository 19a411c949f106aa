import type Anthropic from "@anthropic-ai/sdk";
import { connectStdio, type Task, type World } from "@refmcp/testing";

type Message = Anthropic.Messages.MessageParam;
type ToolResult = Anthropic.Messages.ToolResultBlockParam;

/** How a model did a task. */
interface Verdict {
  readonly passed: boolean;
  /** Its final answer. */
  readonly answer: string;
  /** The tools that it called, in order. */
  readonly calls: readonly string[];
  /** How many of them failed. */
  readonly errors: number;
  /** Tokens read and written, over all turns. */
  readonly tokens: number;
}

/**
 * Lets a model do a task with a server's tools, as a host would: with the server's tools and instructions, and yes to all
 * questions to the user.
 *
 * @param bin the built server, `dist/bin.js`
 * @param maxTurns after which it has failed
 */
export async function solve(
  api: Anthropic,
  model: string,
  bin: string,
  task: Task,
  world: World,
  maxTurns = 30,
): Promise<Verdict> {
  const { client, close } = await connectStdio(bin, {
    args: [...world.args, ...(task.args ?? [])],
    ...(world.env === undefined ? {} : { env: world.env }),
    elicit: () => ({ action: "accept", content: { confirm: true } }),
  });
  try {
    const { tools } = await client.listTools();
    const offered = tools.map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      input_schema: {
        ...inputSchema,
        type: "object" as const,
        required: inputSchema.required ?? [],
      },
    }));
    const messages: Message[] = [
      { role: "user", content: typeof task.prompt === "string" ? task.prompt : task.prompt(world) },
    ];
    const calls: string[] = [];
    let errors = 0;
    let tokens = 0;
    let answer = "";
    for (let turn = 0; turn < maxTurns; turn++) {
      const reply = await api.messages.create({
        model,
        max_tokens: 4_096,
        system: client.getInstructions() ?? "",
        tools: offered,
        messages,
      });
      tokens += reply.usage.input_tokens + reply.usage.output_tokens;
      answer = reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      const wanted = reply.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
      if (wanted.length === 0) break;
      messages.push({ role: "assistant", content: reply.content });
      const results: ToolResult[] = [];
      for (const { id, name, input } of wanted) {
        calls.push(name);
        const result = await client
          .callTool({ name, arguments: argumentsOf(input) })
          .catch((error: Error) => ({
            isError: true,
            content: [{ type: "text" as const, text: error.message }],
          }));
        if (result.isError === true) errors += 1;
        const text = result.content.map((block) =>
          block.type === "text" ? block.text : `[${block.type}]`,
        );
        results.push({
          type: "tool_result",
          tool_use_id: id,
          content: text.join("\n"),
          is_error: result.isError === true,
        });
      }
      messages.push({ role: "user", content: results });
    }
    return { passed: await task.check(answer, world), answer, calls, errors, tokens };
  } finally {
    await close();
  }
}

function argumentsOf(input: unknown): Record<string, unknown> {
  return typeof input === "object" && input !== null ? { ...input } : {};
}

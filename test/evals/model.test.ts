import { once } from "node:events";
import { createServer, type Server } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import type { Task } from "@refmcp/core/testing";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { serverBin, serverWorld } from "../servers.ts";
import { solve } from "./model.ts";

const request = z.object({
  system: z.string(),
  tools: z.array(z.object({ name: z.string(), input_schema: z.object({ type: z.literal("object") }) })),
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
});
type Request = z.output<typeof request>;
/** What a scripted model does in one turn: calls a tool, or says something. */
type Turn = { tool: string; input: object } | { say: string };

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** The Messages API on loopback with a model that follows a script; the requests it got. */
async function scripted(turns: readonly Turn[]): Promise<{ api: Anthropic; requests: Request[] }> {
  const requests: Request[] = [];
  const answering = createServer(async (incoming, outgoing) => {
    const body = request.parse(JSON.parse((await incoming.toArray()).join("")));
    const turn = turns[requests.length] ?? { say: "" };
    requests.push(body);
    const content =
      "say" in turn
        ? [{ type: "text", text: turn.say }]
        : [{ type: "tool_use", id: `call-${requests.length}`, name: turn.tool, input: turn.input }];
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(
      JSON.stringify({
        id: "message",
        type: "message",
        role: "assistant",
        model: "scripted",
        content,
        stop_reason: "say" in turn ? "end_turn" : "tool_use",
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      }),
    );
  }).listen(0, "127.0.0.1");
  server = answering;
  await once(answering, "listening");
  const address = answering.address();
  if (address === null || typeof address === "string") throw new Error("it listens on no port");
  const api = new Anthropic({ apiKey: "none", baseURL: `http://127.0.0.1:${address.port}`, maxRetries: 0 });
  return { api, requests };
}

const task: Task = {
  name: "find a definition",
  prompt: "In which file is greet defined?",
  reference: (call) => call("search_text", { path: ".", pattern: "function greet" }),
  check: (answer) => answer.includes("src/greet.ts"),
};

async function play(turns: readonly Turn[]) {
  const world = await serverWorld("filesystem");
  const { api, requests } = await scripted(turns);
  try {
    return { verdict: await solve(api, "scripted", serverBin("filesystem"), task, world), requests };
  } finally {
    await world.dispose();
  }
}

describe("a model at a task", () => {
  it("sees the tools and the instructions, gets the answers, and is judged by the check", async () => {
    const { verdict, requests } = await play([
      { tool: "search_text", input: { path: ".", pattern: "function greet" } },
      { say: "It is in src/greet.ts." },
    ]);
    expect(verdict).toEqual({
      passed: true,
      answer: "It is in src/greet.ts.",
      calls: ["search_text"],
      errors: 0,
      tokens: 22,
    });
    const [first, second] = requests;
    expect(first?.system).toContain("allowed directories");
    expect(first?.tools.map(({ name }) => name)).toContain("read_text_file");
    expect(first?.messages).toEqual([{ role: "user", content: task.prompt }]);
    expect(JSON.stringify(second?.messages.at(-1))).toContain("export function greet");
  });

  it("fails with a wrong answer, and with none", async () => {
    expect((await play([{ say: "It is in main.ts." }])).verdict).toMatchObject({ passed: false, calls: [] });
    expect((await play([])).verdict).toMatchObject({ passed: false, answer: "" });
  });

  it("is told what was wrong with a call, and may try again", async () => {
    const { verdict, requests } = await play([
      { tool: "search_txt", input: {} },
      { tool: "search_text", input: { path: "../..", pattern: "greet" } },
      { tool: "search_text", input: { path: ".", pattern: "function greet" } },
      { say: "src/greet.ts" },
    ]);
    expect(verdict).toMatchObject({
      passed: true,
      errors: 2,
      calls: ["search_txt", "search_text", "search_text"],
    });
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("search_text");
  });

  it("is stopped when it goes round in circles", async () => {
    const { verdict } = await play(Array.from({ length: 50 }, () => ({ tool: "list_changes", input: {} })));
    expect(verdict).toMatchObject({ passed: false });
    expect(verdict.calls).toHaveLength(30);
  });
});

import type { Task } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { serverBin, serverWorld } from "../servers.ts";
import { solve } from "./model.ts";
import { scripted, type Turn } from "./scripted.ts";

const task: Task = {
  name: "find a definition",
  prompt: "In which file is greet defined?",
  reference: (call) => call("search_text", { path: ".", pattern: "function greet" }),
  check: (answer) => answer.includes("src/greet.ts"),
};

async function play(turns: readonly Turn[]) {
  const world = await serverWorld("filesystem");
  const { api, requests, close } = await scripted(turns);
  try {
    return {
      verdict: await solve(api, "scripted", serverBin("filesystem"), task, world),
      requests,
    };
  } finally {
    await close();
    await world.dispose();
  }
}

describe("a model at a task", () => {
  it("sees the tools and the instructions, gets the results, and is graded by the check", async () => {
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
    expect((await play([{ say: "It is in main.ts." }])).verdict).toMatchObject({
      passed: false,
      calls: [],
    });
    expect((await play([])).verdict).toMatchObject({ passed: false, answer: "" });
  });

  it("gets errors of a call, and may retry", async () => {
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

  it("is stopped when it loops", async () => {
    const { verdict } = await play(
      Array.from({ length: 50 }, () => ({ tool: "list_changes", input: {} })),
    );
    expect(verdict).toMatchObject({ passed: false });
    expect(verdict.calls).toHaveLength(30);
  });
});

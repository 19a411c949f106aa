import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { BIN, cleanUp, project, start, textOf } from "./project.ts";

cleanUp();

it("speaks 2024-11-05 with its client and its servers", async () => {
  const version = "2024-11-05";
  const { folder, env } = project();
  const messages = [
    {
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: { name: "git_status", arguments: {} } },
  ];
  const child = spawn(process.execPath, [BIN, folder], { env: { ...process.env, ...env } });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  for (const message of messages)
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answer = (id: number) =>
    output.split("\n").find((line) => line.includes(`"id":${id},`)) ?? "{}";
  await expect.poll(() => JSON.parse(answer(2)).result).toBeDefined();
  child.stdin.end();
  await once(child, "close");
  expect(JSON.parse(answer(1)).result.protocolVersion).toBe(version);
  // Structured content exists since 2025-06-18; what a revision lacks, the server leaves out.
  expect(JSON.parse(answer(2)).result).not.toHaveProperty("structuredContent");
});

it("makes a long call a task for a client that supports tasks", async () => {
  const place = project();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  };
  const child = spawn(process.execPath, [BIN, place.folder, "--task-after-ms", "0"], {
    env: { ...process.env, ...place.env },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  let id = 0;
  const request = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const own = ++id;
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", id: own, method, params: { ...params, _meta: meta } })}\n`,
    );
    const answers = () => output.split("\n").filter((line) => line.includes(`"id":${own},`));
    await expect.poll(answers).toHaveLength(1);
    return JSON.parse(answers()[0] ?? "").result;
  };
  const created = await request("tools/call", { name: "git_status", arguments: {} });
  expect(created.resultType).toBe("task");
  await expect
    .poll(async () => (await request("tasks/get", { taskId: created.taskId })).status)
    .toBe("completed");
  const { result } = await request("tasks/get", { taskId: created.taskId });
  expect(result).toMatchObject({ structuredContent: { branch: "main" } });
  child.stdin.end();
  await once(child, "close");
});

it("lets a server ask the client's model", async () => {
  const web = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      "<title>Tea</title><h1>Tea</h1><p>Green tea is brewed at 80 degrees Celsius for two minutes.</p>",
    );
  });
  await new Promise<void>((listening) => void web.listen(0, "127.0.0.1", listening));
  const { port }: AddressInfo = Object(web.address());
  try {
    const place = project();
    const { client } = await start(place, {
      args: [place.folder, "--fetch.allow-host", "127.0.0.1", "--fetch.ignore-robots-txt"],
      sample: () => ({
        role: "assistant",
        model: "test",
        content: { type: "text", text: "At 80 degrees." },
      }),
    });
    const answer = await client.callTool({
      name: "fetch_many",
      arguments: {
        urls: [`http://127.0.0.1:${port}/`],
        question: "How hot is green tea brewed?",
      },
    });
    expect(textOf(answer)).toContain("At 80 degrees.");
  } finally {
    web.close();
  }
});

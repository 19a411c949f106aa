import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it } from "vitest";
import { NODES, nodeProgram } from "../../scripts/lib/npm-programs.mjs";
import { INSTALL_MS, ROOT, SERVERS, serverFolder, useWorld } from "../servers.ts";

/** A reading tool of each server that uses its worker, if it has one. */
const TOOLS: Readonly<Record<string, string>> = {
  fetch: "fetch",
  filesystem: "search_text",
  git: "git_log",
  memory: "search_nodes",
  playwright: "pw_run_test",
  postgres: "query",
  sqlite: "read_query",
};

/** Node.js 24 runs TypeScript without a build, workers too. */
describe.each(SERVERS)("node servers/%s/src/bin.ts", (name) => {
  const world = useWorld(name);
  let node = "";

  beforeAll(async () => {
    if ("24" in NODES) ({ program: node } = await nodeProgram(24));
  }, INSTALL_MS);

  it("answers from the sources", { timeout: INSTALL_MS }, async (ctx) => {
    ctx.skip(node === "", "needs Node.js 24, which npm does not have for this platform");
    const tool = TOOLS[name] ?? Object.keys(world().calls)[0] ?? "";
    const client = new Client({ name: "refmcp-test", version: "1" });
    const env = { PATH: process.env.PATH ?? "", ...world().env };
    const args = [`${serverFolder(name)}/src/bin.ts`, ...world().args];
    await client.connect(new StdioClientTransport({ command: node, args, env, cwd: ROOT }));
    try {
      const answer = await client.callTool({ name: tool, arguments: { ...world().calls[tool] } });
      expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true);
      expect(answer.content).not.toEqual([]);
    } finally {
      await client.close();
    }
  });
});

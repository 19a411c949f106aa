import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rawSession } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ROOT, SERVERS, serverBin } from "../servers.ts";

const listed = z.object({
  result: z.object({
    tools: z.array(
      z.looseObject({ name: z.string(), description: z.string(), inputSchema: z.unknown() }),
    ),
  }),
});
describe("the README's table of servers", () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const list = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } })}\n`;
  const kilo = (chars: number) => `${(Math.ceil(chars / 4) / 1_000).toFixed(1)}k`;

  it("has the number of tools and the tokens that a client really receives", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    const lists = await Promise.all(
      SERVERS.map(async (name) => {
        const { lines } = await rawSession(serverBin(name), list);
        const { tools } = listed.parse(JSON.parse(lines[0] ?? "")).result;
        return { name: `[${name}]`, tools };
      }),
    );
    const all = { name: "all ", tools: lists.flatMap(({ tools }) => tools) };
    for (const { name, tools } of [...lists, all]) {
      const row = readme.split("\n").find((line) => line.startsWith(`| ${name}`)) ?? "";
      const cells = row.split("|").map((cell) => cell.trim());
      const model = tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      }));
      expect(cells.slice(3, 5), name).toEqual([
        String(tools.length),
        kilo(JSON.stringify(model).length),
      ]);
    }
  });
});

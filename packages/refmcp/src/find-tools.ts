import { defineServer, toolFor } from "@refmcp/core";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import { SERVER_NAMES } from "./catalog.ts";
import { options } from "./options.ts";
import { ToolIndex } from "./tool-index.ts";

const findTools = toolFor<ToolIndex>()({
  name: "find_tools",
  title: "Find tools",
  description:
    "Search the tools of all servers by words. Returns their input schemas; run one with call_tool. With server and without query, returns that server's instructions and the names of its tools.",
  effect: "read",
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("What you want to do, for example: see who last changed a line."),
    server: z.enum(SERVER_NAMES).optional().describe("Only this server's tools."),
    limit: z.int().min(1).max(20).default(5).describe("Maximum number of tools."),
  }),
  output: z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        server: z.string(),
        description: z.string(),
        effect: z.string(),
        inputSchema: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
    more: z.int().describe("How many more match."),
    instructions: z.string().optional(),
    hint: z.string().optional(),
  }),
  run({ query, server, limit }, index, { budget }) {
    const matches = index.find(query, server);
    let size = 0;
    const tools = matches
      .slice(0, query === undefined ? undefined : limit)
      .map(({ server, tool: { name, description, effect, schemas } }) => {
        const facts = { name, server, description, effect };
        return query === undefined ? facts : { ...facts, inputSchema: schemas.inputSchema };
      })
      .filter((tool, at) => {
        size += JSON.stringify(tool).length;
        return at === 0 || size <= budget;
      });
    const { definition } = index.servers.find(({ name }) => name === server)?.runtime ?? {};
    return {
      tools,
      more: matches.length - tools.length,
      ...(query === undefined && definition ? { instructions: definition.instructions } : {}),
      ...(matches.length === 0 ? { hint: "Use other words." } : {}),
    };
  },
});

/** The program's own tools, and its name in hosts. */
export const server = defineServer({
  name: "refmcp",
  packageName: manifest.name,
  title: "refmcp",
  version: manifest.version,
  description:
    "Files, git, web pages, memory, SQLite, PostgreSQL and browsers behind one connection.",
  instructions:
    "Call find_tools with a few words, then call_tool with the name it returns. find_tools with server alone returns how that server's tools work together.",
  directories: {},
  options,
  tools: [findTools],
  // The program opens it with the tools of its servers.
  open: () => new ToolIndex([]),
});

import { ToolError } from "@refmcp/boundary/answer";
import { defineServer, toolFor } from "@refmcp/core";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import { SERVER_NAMES, type ServerName } from "./catalog.ts";
import { options } from "./options.ts";
import { type FoundTool, ToolIndex } from "./tool-index.ts";

const findTools = toolFor<ToolIndex>()({
  name: "find_tools",
  title: "Find tools",
  description:
    "Search the tools of all servers by words. Returns their input schemas; run one with call_tool. With server and without query, returns that server's instructions and the names of its tools.",
  effect: "read",
  input: z.object({
    query: z
      .string()
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
        effect: z.string().optional(),
        inputSchema: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
    more: z.int().describe("How many more match."),
    instructions: z.string().optional(),
    hint: z.string().optional(),
  }),
  async run({ query = "", server, limit }, index, { budget }) {
    if (query.trim() === "" && server === undefined)
      throw new ToolError("invalid", "Neither query nor server is given.", {
        hint: `Describe in a few words what you want to do, or name a server: ${index.servers.map(({ name }) => name).join(", ")}.`,
      });
    if (query.trim() === "") return overview(index, server);
    const found = await index.find(query, server);
    const tools: ReturnType<typeof withSchema>[] = [];
    let size = 0;
    for (const one of found.slice(0, limit)) {
      const entry = withSchema(one);
      size += JSON.stringify(entry).length;
      if (tools.length > 0 && size > budget) break;
      tools.push(entry);
    }
    const hint =
      found.length === 0
        ? "Use other words, or list a server's tools with server alone."
        : undefined;
    return { tools, more: found.length - tools.length, ...(hint === undefined ? {} : { hint }) };
  },
});

/** The names of the tools of a server, and how they work together. */
async function overview(index: ToolIndex, server: ServerName | undefined) {
  const all = await index.all(server);
  const instructions = index.servers.find(({ name }) => name === server)?.instructions;
  return {
    tools: all.map(({ server, tool }) => ({
      name: tool.name,
      server,
      description: tool.description.replace(/(?<=[.?!])\s.*$/s, ""),
    })),
    more: 0,
    ...(instructions === undefined ? {} : { instructions }),
  };
}

function withSchema({ server, tool }: FoundTool) {
  const { name, description, inputSchema, annotations } = tool;
  const effect =
    annotations.readOnlyHint === true
      ? "read"
      : annotations.destructiveHint === true
        ? "destroy"
        : "change";
  return { name, server, description, effect, inputSchema };
}

/** The program's own tools, and its name in hosts. */
export const server = defineServer({
  name: "refmcp",
  packageName: manifest.name,
  title: "refmcp",
  version: manifest.version,
  description:
    "Files, git, web pages, memory, SQLite, PostgreSQL and browsers behind one connection.",
  instructions: [
    "Call find_tools with a few words, then call_tool with the name it returns.",
    "find_tools with server alone returns how that server's tools work together.",
  ].join("\n"),
  directories: {},
  options,
  tools: [findTools],
  // The program opens it with the tools of its servers.
  open: () => new ToolIndex([]),
});

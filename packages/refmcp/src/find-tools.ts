import { defineServer, toolFor } from "@refmcp/core";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import { options } from "./options.ts";
import { ToolIndex } from "./tool-index.ts";

const findTools = toolFor<ToolIndex>()({
  name: "find_tools",
  title: "Find tools",
  description:
    "Search the tools of all servers by words. Returns their input schemas; run one with call_tool.",
  effect: "read",
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(500)
      .describe("What you want to do, for example: see who last changed a line."),
    limit: z.int().min(1).max(20).default(5).describe("Maximum number of tools."),
  }),
  output: z.object({
    tools: z.array(
      z.object({
        name: z.string(),
        server: z.string(),
        description: z.string(),
        readOnly: z.boolean(),
        inputSchema: z.record(z.string(), z.unknown()),
      }),
    ),
    more: z.int().describe("How many more match."),
    hint: z.string().optional(),
  }),
  run({ query, limit }, index, { budget }) {
    const matches = index.find(query);
    let size = 0;
    const tools = matches
      .slice(0, limit)
      .map(({ server, tool: { name, description, inputSchema, annotations } }) => {
        return {
          name,
          server,
          description,
          readOnly: annotations.readOnlyHint === true,
          inputSchema,
        };
      })
      .filter((tool, index) => {
        size += JSON.stringify(tool).length;
        return index === 0 || size <= budget;
      });
    const hint = matches.length === 0 ? { hint: "Use other words." } : {};
    return { tools, more: matches.length - tools.length, ...hint };
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
  instructions: "Call find_tools with a few words, then call_tool with the name it returns.",
  directories: {},
  options,
  tools: [findTools],
  // The program opens it with the tools of its servers.
  open: () => new ToolIndex([]),
});

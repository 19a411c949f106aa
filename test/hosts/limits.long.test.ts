import { beforeAll, describe, expect, it } from "vitest";
import { READY } from "../conformance/ready.ts";
import { type Fields, fieldsAt, isFields, listAt } from "../protocol/revisions.ts";
import { describedServers } from "../servers.ts";

/** What the model sees as a tool's name: longer names are cut, or their tools dropped. */
const NAMES: readonly (readonly [
  host: string,
  most: number,
  name: (server: string, tool: string) => string,
])[] = [
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers
  ["Claude Desktop", 64, (_, tool) => tool],
  ["VS Code", 64, (server, tool) => `mcp_${server}_${tool}`],
  // https://github.com/executeautomation/mcp-playwright/issues/145
  ["Cursor", 60, (server, tool) => `${server}:${tool}`],
  ["Codex", 64, (server, tool) => `mcp__${server}__${tool}`],
];

/**
 * What hosts would change in the meaning of an input schema: VS Code drops combinations at its top and changes lists without
 * items and nullable types (toolSchemaNormalizer.ts of vscode-copilot-chat), Claude Desktop refuses other property names, and
 * Codex knows only some keywords and guesses a missing type (codex-rs/tools/src/json_schema.rs). The values of a SQL statement
 * have no type: Codex shows them as text, which a column converts.
 */
function changes(schema: Fields, at = "input", isValue = false): string[] {
  const { type, items, properties, additionalProperties: more } = schema;
  const say = (isChanged: boolean, what: string) => (isChanged ? [`${at} ${what}`] : []);
  const combined = ["anyOf", "oneOf", "allOf"].filter((keyword) => keyword in schema);
  return [
    ...say(at === "input" && combined.length > 0, `has ${combined} at the top`),
    ...say(Array.isArray(type) || type === "null", "has several types"),
    ...say(type === "array" && !isFields(items), "has no schema for its items"),
    ...say(
      !isValue && !["type", "enum", "const", "anyOf"].some((key) => key in schema),
      "has no type",
    ),
    ...say("oneOf" in schema || "allOf" in schema || "$ref" in schema, "is a combination"),
    ...Object.keys(fieldsAt(properties)).flatMap((name) => [
      ...say(!/^[a-zA-Z0-9_.-]{1,64}$/.test(name), `has the property ${name}`),
      ...changes(fieldsAt(properties, name), `${at}.${name}`),
    ]),
    ...(isFields(items) ? changes(items, `${at}[]`, at.endsWith(".params")) : []),
    ...(isFields(more) ? changes(more, `${at}{}`) : []),
    ...listAt(schema, "anyOf").flatMap((choice) => changes(choice, `${at}|`)),
  ];
}

describe.each(READY)("the tools of the %s server", (server) => {
  let tools: Fields[] = [];
  beforeAll(async () => {
    tools = listAt(
      (await describedServers()).find(({ name }) => name === server),
      "tools",
    );
    expect(tools).not.toEqual([]);
  });

  it.each(NAMES)("keep their names in %s", (_host, most, nameOf) => {
    for (const { name } of tools)
      expect(nameOf(server, String(name))).toMatch(new RegExp(`^[a-zA-Z0-9_:-]{1,${most}}$`));
  });

  it("keep their descriptions and the meaning of their arguments in every host", () => {
    for (const tool of tools) {
      expect(String(tool.description).length).toBeLessThanOrEqual(1_024);
      expect(changes(fieldsAt(tool, "inputSchema")), String(tool.name)).toEqual([]);
    }
  });
});

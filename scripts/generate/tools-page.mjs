// docs/tools.md: every tool of every server, as a model sees it.
import { code, kebab, table } from "./markdown.mjs";
import { defaultTools, modelTokensOf, slimTools, thousands } from "./surface.mjs";

/** The whole page. */
export function toolsPage(servers) {
  return `${[
    "# Tools",
    "Written by `pnpm generate` from the definitions. Effects: `read` changes nothing, `add` creates something, `change` modifies, `destroy` loses something permanently and asks the user first.",
    table(
      ["Server", "Tools", "Offered by default", "Tokens by default", "With `--slim`", "Tokens of all"],
      servers.map((server) => [
        `[${server.title}](#${server.name})`,
        String(server.tools.length),
        String(defaultTools(server).length),
        thousands(modelTokensOf(defaultTools(server))),
        `${slimTools(server).length}, ${thousands(modelTokensOf(slimTools(server)))}`,
        thousands(modelTokensOf(server.tools)),
      ]),
    ),
    ...servers.flatMap(serverSection),
  ].join("\n\n")}\n`;
}

function serverSection(server) {
  return [
    `## ${server.name}`,
    `${server.description} [README](../servers/${server.name}/README.md)`,
    ...server.tools.flatMap((tool) => toolSection(tool, server)),
  ];
}

function toolSection(tool, { toolsets }) {
  const facts = [
    `Effect: ${code(tool.effect)}`,
    `returns ${tool.outputSchema === undefined ? "text" : "data"}`,
    ...(tool.annotations.openWorldHint ? ["reaches beyond this machine"] : []),
    ...(tool.toolset === undefined
      ? []
      : [`toolset ${code(tool.toolset)}${toolsets[tool.toolset]?.default ? "" : " (not by default)"}`]),
    ...(tool.needs === undefined ? [] : [`only with ${code(`--${kebab(tool.needs)}`)}`]),
    ...(tool.aliases.length === 0 ? [] : [`also as ${tool.aliases.map(code).join(", ")}`]),
    `about ${modelTokensOf([tool])} tokens`,
  ];
  const rows = argumentRows(tool.inputSchema, "");
  return [
    `### ${tool.name}`,
    tool.description,
    `${facts.join("; ")}.`,
    rows.length === 0 ? "No arguments." : table(["Argument", "Type", "What it is", "Default"], rows),
  ];
}

/** A row for each property, and for each field of the objects in it: `edits`, `edits[].oldText`. */
function argumentRows({ properties = {}, required = [] }, prefix) {
  return Object.entries(properties).flatMap(([name, property]) => [
    [
      code(prefix + name) + (required.includes(name) ? " (required)" : ""),
      typeOf(property),
      property.description ?? "",
      property.default === undefined ? "" : code(JSON.stringify(property.default)),
    ],
    ...argumentRows(property, `${prefix}${name}.`),
    ...argumentRows(property.items ?? {}, `${prefix}${name}[].`),
  ]);
}

/** A property's type in a few words: `array of string`, `"a" | "b"`, `integer 1 to 10`. */
function typeOf({ type, enum: values, const: only, items, minimum, maximum, anyOf }) {
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  if (type === "array") return `array of ${typeOf(items ?? {})}`;
  if (minimum !== undefined && maximum !== undefined) return `${type} ${minimum} to ${maximum}`;
  return type ?? "any";
}

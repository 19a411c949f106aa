import { type Fields, fieldsAt, isFields, listAt } from "../protocol/revisions.ts";

/** The part of a tool that a host uses: its name for the model, the description, and the schema of the arguments. */
export interface HostTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Fields;
}

/** How a host changes a server's tool before the model sees it. */
interface HostFilter {
  readonly host: string;
  /** Where its rules are documented. */
  readonly sources: readonly string[];
  /** @throws Error with the host's reason, if the host drops the tool. */
  apply(server: string, tool: HostTool): HostTool;
}

const COMBINERS = ["oneOf", "anyOf", "allOf"];

const claudeDesktop: HostFilter = {
  host: "Claude Desktop",
  sources: [
    "https://modelcontextprotocol.io/docs/develop/connect-local-servers (its check of names)",
    "https://github.com/anthropics/claude-code/issues/710",
  ],
  apply(_server, { name, description, inputSchema }) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) throw new Error(`the name ${name}`);
    const combiner = COMBINERS.find((keyword) => keyword in inputSchema);
    if (combiner !== undefined) throw new Error(`the schema has ${combiner} at the top level`);
    if (inputSchema.type !== "object") throw new Error("the schema is not an object");
    eachSchema(inputSchema, (schema) => {
      for (const key of Object.keys(fieldsAt(schema, "properties"))) {
        if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) throw new Error(`the property name ${key}`);
      }
    });
    return { name, description: description.slice(0, 2048), inputSchema };
  },
};

/** GPT-4 supports neither bounds nor formats nor defaults. */
const NOT_FOR_GPT4 = new Set([
  ...["minLength", "maxLength", "pattern", "default", "format", "minimum", "maximum", "multipleOf"],
  ...[
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
  ],
  ...[
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
  ],
]);

/** What VS Code drops at the top of a schema, whatever the model. */
const TOP_LEVEL_VSCODE = [...COMBINERS, "not", "if", "then", "else"];

const VSCODE_SOURCE =
  "https://github.com/microsoft/vscode-copilot-chat/blob/main/src/extension/tools/common/toolSchemaNormalizer.ts";

const vscode: HostFilter = {
  host: "VS Code with GPT-4",
  sources: [VSCODE_SOURCE, "https://github.com/microsoft/vscode/issues/248810"],
  apply(server, tool) {
    const inputSchema = mapSchema(tool.inputSchema, (schema) => {
      if (schema.type === "array" && schema.items === undefined)
        throw new Error("an array without items");
      if (Array.isArray(schema.items)) return { ...schema, items: { anyOf: schema.items } };
      const kept = Object.entries(schema).filter(([keyword]) => !NOT_FOR_GPT4.has(keyword));
      const { description } = schema;
      const cut =
        typeof description === "string" ? { description: description.slice(0, 1024) } : {};
      return { ...Object.fromEntries(kept), ...cut };
    });
    for (const keyword of TOP_LEVEL_VSCODE) delete inputSchema[keyword];
    return { ...tool, name: `mcp_${server}_${tool.name}`.slice(0, 64), inputSchema };
  },
};

const cursor: HostFilter = {
  host: "Cursor",
  sources: [
    "https://github.com/executeautomation/mcp-playwright/issues/145",
    "https://github.com/ComposioHQ/composio/issues/2788",
  ],
  apply(server, tool) {
    const length = `${server}:${tool.name}`.length;
    if (length > 60) throw new Error(`server and tool name have ${length} characters, over 60`);
    return tool;
  },
};

const CODEX_TYPES = ["string", "number", "boolean", "integer", "object", "array", "null"];
const CODEX_KEYWORDS = new Set([
  ...[
    "type",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
  ],
]);

const codex: HostFilter = {
  host: "Codex",
  sources: ["https://github.com/openai/codex/blob/main/codex-rs/tools/src/json_schema.rs"],
  apply(server, tool) {
    const inputSchema = mapSchema(tool.inputSchema, (schema) => {
      const enumeration = "const" in schema ? { enum: [schema.const] } : {};
      const kept = Object.entries({ ...schema, ...enumeration }).filter(([key]) =>
        CODEX_KEYWORDS.has(key),
      );
      const types = [schema.type].flat().filter((type) => CODEX_TYPES.includes(String(type)));
      if (types.length > 0 || "anyOf" in schema) return Object.fromEntries(kept);
      // Without a type, it guesses one.
      const isObject = ["properties", "required", "additionalProperties"].some(
        (keyword) => keyword in schema,
      );
      return {
        ...Object.fromEntries(kept),
        type: isObject ? "object" : "items" in schema ? "array" : "string",
      };
    });
    if (inputSchema.type === "null") throw new Error("the input is null");
    const name = `mcp__${server}__${tool.name}`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) throw new Error(`the name ${name}`);
    return { ...tool, name, inputSchema };
  },
};

/** VS Code turns nullable types into OpenAPI's keyword for the Gemini models. */
const vscodeGemini: HostFilter = {
  host: "VS Code with Gemini",
  sources: [VSCODE_SOURCE],
  apply(server, tool) {
    const inputSchema = mapSchema(tool.inputSchema, (schema) => {
      const types = [schema.type].flat();
      const others = types.filter((type) => type !== "null");
      if (others.length === types.length) return schema;
      return others.length === 1
        ? { ...schema, type: others[0], nullable: true }
        : { ...schema, type: others };
    });
    for (const keyword of TOP_LEVEL_VSCODE) delete inputSchema[keyword];
    return { ...tool, name: `mcp_${server}_${tool.name}`.slice(0, 64), inputSchema };
  },
};

/** The documented behavior of hosts. */
export const FILTERS: readonly HostFilter[] = [claudeDesktop, vscode, vscodeGemini, cursor, codex];

/** A copy of a schema with `change` applied to every schema inside, then to itself. */
function mapSchema(schema: Fields, change: (schema: Fields) => Fields): Fields {
  const copy: Fields = { ...schema };
  if (isFields(schema.properties)) {
    copy.properties = Object.fromEntries(
      Object.keys(schema.properties).map((key) => [
        key,
        mapSchema(fieldsAt(schema, "properties", key), change),
      ]),
    );
  }
  for (const keyword of ["items", "additionalProperties"]) {
    const inner = schema[keyword];
    if (isFields(inner)) copy[keyword] = mapSchema(inner, change);
  }
  for (const keyword of COMBINERS) {
    if (Array.isArray(schema[keyword]))
      copy[keyword] = listAt(schema, keyword).map((inner) => mapSchema(inner, change));
  }
  return change(copy);
}

function eachSchema(schema: Fields, visit: (schema: Fields) => void): void {
  mapSchema(schema, (inner) => {
    visit(inner);
    return inner;
  });
}

/** Values for the placeholders of a SQL statement. */
const SQL_VALUES = "params";

/**
 * The parts of a schema that must reach the model through every host: types, names, required fields, enumerations
 * and descriptions. Bounds, defaults and `additionalProperties` are dropped by some hosts, and the
 * server checks them itself.
 *
 * The values of a SQL statement have no type. Codex presents them to its model as text, which is enough, because a column
 * converts text to its type. Nothing else may be without a type.
 *
 * @param name of the property that the schema belongs to.
 */
export function meaningOf(schema: Fields, name = ""): Fields {
  const { type, description, properties, items } = schema;
  const meaning: Fields = { type, description, enum: schema.enum };
  if (isFields(properties)) {
    meaning.required = schema.required ?? [];
    meaning.properties = Object.fromEntries(
      Object.keys(properties).map((key) => [key, meaningOf(fieldsAt(properties, key), key)]),
    );
  }
  if (items !== undefined && name !== SQL_VALUES)
    meaning.items = isFields(items) ? meaningOf(items) : items;
  for (const keyword of COMBINERS) {
    if (keyword in schema)
      meaning[keyword] = listAt(schema, keyword).map((inner) => meaningOf(inner));
  }
  return meaning;
}

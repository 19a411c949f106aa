import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type Fields, fieldsAt, isFields, listAt, type Revision } from "./revisions.ts";

/** The tools that a server listed, to check its answers against them. */
export class ToolBook {
  readonly #outputs = new Map<unknown, ValidateFunction | undefined>();

  /** Records a page of `tools/list`; returns the problems in its schemas. */
  list(result: Fields): string[] {
    return listAt(result, "tools").flatMap(({ name, inputSchema, outputSchema }) => {
      const problems = [compile(inputSchema), compile(outputSchema)].flatMap((validator) =>
        typeof validator === "string"
          ? [`${String(name)} has an invalid schema: ${validator}`]
          : [],
      );
      const output = compile(outputSchema);
      this.#outputs.set(name, typeof output === "function" ? output : undefined);
      return problems;
    });
  }

  /** "If an output schema is provided: servers MUST provide structured results that conform to this schema." */
  call(revision: Revision, tool: unknown, result: Fields): string[] {
    const structured = result.structuredContent;
    if (revision < "2025-06-18")
      return structured === undefined ? [] : ["structuredContent came with 2025-06-18"];
    const output = this.#outputs.get(tool);
    if (output === undefined || result.isError === true) return [];
    if (output(structured)) return [];
    return (output.errors ?? []).map(({ instancePath, message }) => {
      return `structuredContent${instancePath} ${message ?? "is invalid"}`;
    });
  }
}

const current = new Ajv2020({ strict: false });
const draft07 = new Ajv({ strict: false });

/** A tool's schema as a validator, or why it is invalid; undefined without a schema. */
function compile(schema: unknown): ValidateFunction | string | undefined {
  if (!isFields(schema)) return undefined;
  // Without `$schema` it is JSON Schema 2020-12 (MCP 2025-11-25 and later, "JSON Schema Usage").
  const old = String(fieldsAt(schema).$schema ?? "").includes("draft-07");
  try {
    return (old ? draft07 : current).compile(schema);
  } catch (error) {
    return String(error);
  }
}

import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { earliestSchema } from "./earliest.ts";
import { publishedSchema } from "./published.ts";
import { type Fields, fieldsAt, isFields, listAt, type Revision } from "./revisions.ts";

/** The official JSON Schema of a revision, ready to validate with. */
export class OfficialSchema {
  readonly revision: Revision;
  /** The definitions by name. */
  readonly definitions: Fields;
  readonly #key: "$defs" | "definitions";
  readonly #ajv: Ajv;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(revision: Revision, schema: Fields) {
    this.revision = revision;
    this.#key = "$defs" in schema ? "$defs" : "definitions";
    this.definitions = fieldsAt(schema, this.#key);
    const options = { strict: false };
    this.#ajv = this.#key === "$defs" ? new Ajv2020(options) : new Ajv(options);
    formats.default(this.#ajv);
    this.#ajv.addSchema({ ...schema, $id: "mcp:schema" });
  }

  has(definition: string): boolean {
    return Object.hasOwn(this.definitions, definition);
  }

  /** How a value violates a definition; empty if it is valid. */
  problems(definition: string, value: unknown): string[] {
    let validate = this.#validators.get(definition);
    if (validate === undefined) {
      if (!this.has(definition))
        throw new TypeError(`${this.revision} does not define ${definition}`);
      validate = this.#ajv.compile({ $ref: `mcp:schema#/${this.#key}/${definition}` });
      this.#validators.set(definition, validate);
    }
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    return errors.map(({ instancePath, message, params }) => {
      return `${definition}${instancePath} ${message ?? "is invalid"} ${JSON.stringify(params)}`;
    });
  }

  /** The names of a union's definitions, for example of `ServerNotification`. */
  members(union: string): string[] {
    if (!this.has(union)) return [];
    const options = listAt(this.definitions, union, "anyOf");
    return options.flatMap(({ $ref }) =>
      typeof $ref === "string" ? [$ref.slice($ref.lastIndexOf("/") + 1)] : [],
    );
  }

  /** The definitions of a union of requests or notifications, by their `method`. */
  byMethod(union: string): ReadonlyMap<string, string> {
    const methods = new Map<string, string>();
    for (const name of this.members(union)) {
      const method = fieldsAt(this.definitions, name, "properties", "method").const;
      if (typeof method === "string") methods.set(method, name);
    }
    return methods;
  }
}

const schemas = new Map<Revision, OfficialSchema>();

/** The official schema of a revision. */
export function officialSchema(revision: Revision): OfficialSchema {
  let schema = schemas.get(revision);
  if (schema === undefined) {
    const text =
      revision === "2024-11-05"
        ? earliestSchema(publishedSchema("2025-03-26"))
        : publishedSchema(revision);
    schema = new OfficialSchema(revision, repaired(text));
    schemas.set(revision, schema);
  }
  return schema;
}

/**
 * The generator of the JSON Schemas wrote `integer` for the bounds of a number in a form. Their source, the TypeScript schemas
 * ("the source of truth"), has `number`, and the specification's files were corrected.
 */
function repaired(schema: Fields): Fields {
  const copy = structuredClone(schema);
  const definitions = "$defs" in copy ? "$defs" : "definitions";
  const bounds = fieldsAt(copy, definitions, "NumberSchema", "properties");
  for (const name of ["minimum", "maximum", "default"]) {
    const bound = bounds[name];
    if (isFields(bound) && bound.type === "integer") bound.type = "number";
  }
  return copy;
}

// JSON Schema as far as tools use it: what is wrong with a value, and a value made from examples.
import { type Json, listOf, objectOf } from "./link.ts";

const MAX_DEPTH = 50;

/** The first way in which a value breaks a schema, or nothing. Unknown keywords are accepted. */
export function schemaProblem(
  value: unknown,
  schema: unknown,
  root = objectOf(schema),
  at = "result",
  depth = 0,
): string | undefined {
  if (schema === false) return `${at} is not allowed`;
  if (depth > MAX_DEPTH) return undefined;
  const node = resolved(schema, root);
  const check = (inner: unknown, innerSchema: unknown, where: string) =>
    schemaProblem(inner, innerSchema, root, where, depth + 1);
  const types = node["type"] === undefined ? [] : [node["type"]].flat();
  if (types.length > 0 && !types.some((type) => isOfType(value, type)))
    return `${at} is ${typeOf(value)} instead of ${types.join(" or ")}`;
  if (node["const"] !== undefined && !isEqual(value, node["const"]))
    return `${at} is not ${JSON.stringify(node["const"])}`;
  if (Array.isArray(node["enum"]) && !node["enum"].some((one) => isEqual(one, value)))
    return `${at} is none of ${JSON.stringify(node["enum"]).slice(0, 200)}`;
  const any = listOf(node["anyOf"] ?? node["oneOf"]);
  if (any.length > 0 && any.every((one) => check(value, one, at) !== undefined))
    return `${at} matches no alternative`;
  for (const one of listOf(node["allOf"])) {
    const problem = check(value, one, at);
    if (problem !== undefined) return problem;
  }
  if (Array.isArray(value)) return listProblem(value, node, at, check);
  if (typeof value === "object" && value !== null)
    return memberProblem(objectOf(value), node, at, check);
  return boundProblem(value, node, at);
}

type Check = (value: unknown, schema: unknown, where: string) => string | undefined;

function listProblem(
  value: readonly unknown[],
  node: Json,
  at: string,
  check: Check,
): string | undefined {
  const prefix = listOf(node["prefixItems"]);
  if (typeof node["maxItems"] === "number" && value.length > node["maxItems"])
    return `${at} has ${value.length} items instead of at most ${node["maxItems"]}`;
  if (typeof node["minItems"] === "number" && value.length < node["minItems"])
    return `${at} has ${value.length} items instead of at least ${node["minItems"]}`;
  for (const [index, item] of value.entries()) {
    const schema = prefix[index] ?? node["items"];
    const problem = schema === undefined ? undefined : check(item, schema, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function memberProblem(value: Json, node: Json, at: string, check: Check): string | undefined {
  const properties = objectOf(node["properties"]);
  const missing = listOf(node["required"]).find(
    (name) => typeof name === "string" && !Object.hasOwn(value, name),
  );
  if (missing !== undefined) return `${at}.${missing} is missing`;
  for (const [name, member] of Object.entries(value)) {
    const other =
      node["patternProperties"] === undefined ? node["additionalProperties"] : undefined;
    const schema = Object.hasOwn(properties, name) ? properties[name] : other;
    const problem = schema === undefined ? undefined : check(member, schema, `${at}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function boundProblem(value: unknown, node: Json, at: string): string | undefined {
  const { minimum, maximum, maxLength, minLength } = node;
  if (typeof value === "number") {
    if (typeof minimum === "number" && value < minimum)
      return `${at} is ${value}, below ${minimum}`;
    if (typeof maximum === "number" && value > maximum)
      return `${at} is ${value}, above ${maximum}`;
  }
  if (typeof value !== "string") return undefined;
  const { length } = Array.from(value);
  if (typeof maxLength === "number" && length > maxLength)
    return `${at} has more than ${maxLength} characters`;
  return typeof minLength === "number" && length < minLength
    ? `${at} has fewer than ${minLength} characters`
    : undefined;
}

/** A schema without its reference into the same document. */
export function resolved(schema: unknown, root: Json): Json {
  let node = objectOf(schema);
  for (let steps = 0; typeof node["$ref"] === "string" && steps < 10; steps += 1) {
    const path = node["$ref"];
    if (!path.startsWith("#")) return {};
    let target: unknown = root;
    for (const part of path
      .slice(1)
      .split("/")
      .filter((one) => one !== ""))
      target = objectOf(target)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    node = objectOf(target);
  }
  return node;
}

export function typesOf(schema: unknown, root: Json): readonly string[] {
  const node = resolved(schema, root);
  const own = [node["type"]].flat().filter((one): one is string => typeof one === "string");
  const values = node["const"] === undefined ? listOf(node["enum"]) : [node["const"]];
  const branches = [...listOf(node["anyOf"]), ...listOf(node["oneOf"])].flatMap((one) =>
    typesOf(one, {}),
  );
  return own.length > 0 ? own : [...new Set([...values.map(typeOf), ...branches])];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeOf(value) === type;
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Arguments made of the examples, defaults and choices in a schema; nothing if a required one has none. */
export function exampleOf(schema: unknown, root = objectOf(schema)): unknown {
  const node = resolved(schema, root);
  for (const given of [
    listOf(node["examples"])[0],
    node["example"],
    node["default"],
    node["const"],
    listOf(node["enum"])[0],
  ])
    if (given !== undefined) return given;
  const types = typesOf(schema, root);
  if (types.includes("boolean")) return false;
  if (types.includes("integer") && typeof node["minimum"] === "number") return node["minimum"];
  if (!types.includes("object")) return undefined;
  const properties = objectOf(node["properties"]);
  const entries = listOf(node["required"]).map((name) => [
    name,
    exampleOf(properties[String(name)], root),
  ]);
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

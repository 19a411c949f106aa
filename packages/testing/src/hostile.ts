// Arguments that every tool must refuse, generated from its listed schema. All of them break the schema: a required
// argument has the wrong type, or is missing. So no tool runs, unless it does not check its arguments.
import { type Json, listOf, objectOf } from "./json.ts";

export interface HostileCase {
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  /** The wrong or missing arguments; an error should name at least one. */
  readonly wrong: readonly string[];
  /** Whether it is about the cost of checking, not about the error's message. */
  readonly isLarge: boolean;
}

const MAX_ARGUMENTS = 12;
/** A client of the SDK writes it with `JSON.stringify`. */
const MAX_DEPTH = 2_000;
const ODD = { "a NUL character": "\\u0000", "a lone surrogate": "\\ud800" };

/** @param bytes about the size of a large message. */
export function hostileCases(
  tool: { readonly inputSchema: object; readonly annotations?: object | undefined },
  bytes: number,
): HostileCase[] {
  const root = objectOf(tool.inputSchema);
  const listed = objectOf(root["properties"]);
  const required = listOf(root["required"])
    .filter((name) => typeof name === "string")
    // Some libraries list an argument with a default as required.
    .filter((name) => objectOf(listed[name])["default"] === undefined);
  const properties = Object.entries(listed).slice(0, MAX_ARGUMENTS);
  const isReadOnly = objectOf(tool.annotations)["readOnlyHint"] === true;
  // A server that ignores wrong optional arguments would run the tool.
  const tried = properties.filter(([name]) => required.includes(name) || isReadOnly);
  const cases: HostileCase[] = [];
  const add = (
    name: string,
    argument: string,
    value: string | undefined,
    isLarge: boolean,
    more = "",
  ) => {
    if (value === undefined) return;
    const wrong = [...new Set([argument, ...required])];
    cases.push({ name, args: `{${more}${JSON.stringify(argument)}:${value}}`, wrong, isLarge });
  };
  if (required.length > 0)
    cases.push({ name: "no arguments", args: "{}", wrong: required, isLarge: false });
  for (const [name, schema] of tried) {
    add(`${name} of the wrong type`, name, wrongValue(schema, root, '"judge"'), false);
    add(`${name} with wrong items`, name, wrongItems(schema, root, bytes), true);
  }
  const [first] = tried.filter(([, schema]) => wrongValue(schema, root, "0") !== undefined);
  if (first === undefined) return cases;
  const [name, schema] = first;
  const wrong = (payload: string) => wrongValue(schema, root, payload);
  add("many unknown arguments", name, wrong("0"), true, manyKeys(bytes));
  add("deep nesting", name, wrong(deep(bytes)), true);
  add("a long string", name, wrong(`"${"x".repeat(bytes)}"`), true);
  for (const [what, text] of Object.entries(ODD)) add(what, name, wrong(`"${text}"`), false);
  add("a key __proto__", name, wrong("0"), false, '"__proto__":{"judge":1},');
  return cases;
}

/** A value that the schema of an argument refuses, with `payload` inside; nothing if it accepts anything. */
function wrongValue(schema: unknown, root: Json, payload: string): string | undefined {
  const types = typesOf(schema, root);
  if (types.length === 0) return undefined;
  if (!types.includes("array")) return `[${payload}]`;
  if (!types.includes("object")) return `{"judge":${payload}}`;
  return types.includes("string") ? undefined : '"judge"';
}

/** A list in which every item is wrong; nothing if the argument is not a list, or its items can be anything. */
function wrongItems(schema: unknown, root: Json, bytes: number): string | undefined {
  const node = resolved(schema, root);
  if (!typesOf(schema, root).includes("array")) return undefined;
  const list =
    node["items"] === undefined
      ? [...listOf(node["anyOf"]), ...listOf(node["oneOf"])].map((branch) => resolved(branch, root))
      : [node];
  const items = list.find((branch) => branch["items"] !== undefined)?.["items"];
  const types = typesOf(items, root).map((type) => (type === "integer" ? "number" : type));
  if (types.length === 0) return undefined;
  const item = ["1", '""', "[]"].find((text) => !types.includes(kindOf(text)));
  return item === undefined
    ? undefined
    : `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}${item}]`;
}

function kindOf(item: string): string {
  if (item === "1") return "number";
  return item === "[]" ? "array" : "string";
}

function manyKeys(bytes: number): string {
  return Array.from({ length: Math.floor(bytes / 14) }, (_, index) => `"k${index}":1,`).join("");
}

function deep(bytes: number): string {
  const depth = Math.min(MAX_DEPTH, Math.floor(bytes / 2));
  return "[".repeat(depth) + "]".repeat(depth);
}

/** A schema without its reference into the same document. */
function resolved(schema: unknown, root: Json): Json {
  let node = objectOf(schema);
  for (let steps = 0; typeof node["$ref"] === "string" && steps < 10; steps += 1) {
    const path = node["$ref"];
    if (!path.startsWith("#")) return {};
    let target: unknown = root;
    for (const part of path
      .slice(1)
      .split("/")
      .filter((name) => name !== ""))
      target = objectOf(target)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
    node = objectOf(target);
  }
  return node;
}

function typesOf(schema: unknown, root: Json): readonly string[] {
  const node = resolved(schema, root);
  const own = [node["type"]].flat().filter((name): name is string => typeof name === "string");
  const values = node["const"] === undefined ? listOf(node["enum"]) : [node["const"]];
  const branches = [...listOf(node["anyOf"]), ...listOf(node["oneOf"])].flatMap((branch) =>
    typesOf(branch, {}),
  );
  return own.length > 0 ? own : [...new Set([...values.map(typeOf), ...branches])];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

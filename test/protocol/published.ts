import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { type Expression, type Property, parse } from "acorn";
import { type Fields, isFields } from "./revisions.ts";

/** The npm package with the official JSON Schemas of the protocol, in the version whose bundle looks like this. */
const PACKAGE = "@modelcontextprotocol/conformance";
const VERSION = "0.2.0-alpha.12";
const FOLDER = new URL(`../node_modules/${PACKAGE}/`, import.meta.url);

/** The revisions whose schema the package has. */
const PUBLISHED = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;

let published: ReadonlyMap<string, Fields> | undefined;

/** The official JSON Schema of a revision from the installed conformance package. */
export function publishedSchema(revision: (typeof PUBLISHED)[number]): Fields {
  published ??= readPackage();
  return published.get(revision) ?? {};
}

/**
 * The schemas are object literals in the package's bundle, found through the one object that maps revisions to them. Only
 * these literals are evaluated: nothing of the bundle runs.
 *
 * @throws Error if the package is another version or looks different.
 */
function readPackage(): ReadonlyMap<string, Fields> {
  const { version } = JSON.parse(readFileSync(new URL("package.json", FOLDER), "utf8"));
  if (version !== VERSION) throw new Error(`${PACKAGE} ${version}: look at its bundle first.`);
  const bundle = readFileSync(new URL("dist/index.js", FOLDER), "utf8");
  const literals = new Map<string, Expression>();
  for (const statement of parse(bundle, { ecmaVersion: "latest", sourceType: "module" }).body)
    if (statement.type === "VariableDeclaration")
      for (const { id, init } of statement.declarations)
        if (id.type === "Identifier" && init) literals.set(id.name, init);
  const membersOf = (literal: Expression | undefined): Property[] =>
    literal?.type === "ObjectExpression"
      ? literal.properties.flatMap((member) => (member.type === "Property" ? [member] : []))
      : [];
  const evaluated = ({ start, end }: Expression): unknown =>
    runInNewContext(`structuredClone(${bundle.slice(start, end)})`, { structuredClone });
  const keyOf = ({ key, computed }: Property): string => {
    if (key.type === "Identifier" && !computed) return key.name;
    const literal = key.type === "Identifier" ? literals.get(key.name) : undefined;
    return key.type === "Literal" ? String(key.value) : String(literal && evaluated(literal));
  };
  const literalOf = ({ value }: Property) =>
    value.type === "Identifier" ? literals.get(value.name) : undefined;
  const [map, ...others] = [...literals.values()].filter(
    (literal) =>
      membersOf(literal).map(keyOf).join() === PUBLISHED.join() &&
      membersOf(literal).every((member) =>
        membersOf(literalOf(member)).some((inner) => keyOf(inner) === "$schema"),
      ),
  );
  const schemas = membersOf(map).map((member): [string, Fields] => {
    const literal = literalOf(member);
    const schema = literal && evaluated(literal);
    return [keyOf(member), isFields(schema) ? schema : {}];
  });
  if (schemas.length !== PUBLISHED.length || others.length > 0)
    throw new Error(`${PACKAGE} does not map revisions to schemas in one object.`);
  return new Map(schemas);
}

import { readFileSync } from "node:fs";
import type { Expression } from "acorn";
import { ModuleLiterals } from "./literal.ts";
import { type Fields, isFields } from "./revisions.ts";

/** The npm package with the official JSON Schemas of the protocol, and its version. */
const PACKAGE = "@modelcontextprotocol/conformance";
const VERSION = "0.2.0-alpha.12";
const FOLDER = new URL(`../node_modules/${PACKAGE}/`, import.meta.url);

/** The revisions whose schema the package has. */
const PUBLISHED = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
type Published = (typeof PUBLISHED)[number];

let published: ReadonlyMap<string, Fields> | undefined;

/**
 * The official JSON Schema of a revision from the installed conformance package: an object literal in its bundle, found through
 * the one object that maps revisions to schemas. The bundle is parsed and never run.
 *
 * @throws Error if the package is another version or looks different.
 */
export function publishedSchema(revision: Published): Fields {
  published ??= readPackage(
    readFileSync(new URL("package.json", FOLDER), "utf8"),
    readFileSync(new URL("dist/index.js", FOLDER), "utf8"),
  );
  const schema = published.get(revision);
  if (schema === undefined) throw new Error(`${PACKAGE} has no schema of ${revision}`);
  return schema;
}

/** All schemas of the package, by revision. @param bundle its `dist/index.js`. */
export function readPackage(manifest: string, bundle: string): ReadonlyMap<string, Fields> {
  const { version }: { version?: string } = JSON.parse(manifest);
  if (version !== VERSION) {
    throw unexpected(
      `version ${version} is installed, and this reads ${VERSION}: look at the new bundle first`,
    );
  }
  const module = new ModuleLiterals(bundle);
  const isSchema = (value: Expression | undefined): boolean =>
    value?.type === "ObjectExpression" &&
    ["definitions", "$defs"].some((key) => keysOf(value).includes(key)) &&
    keysOf(value).includes("$schema");
  const isMapOfSchemas = (value: Expression): boolean =>
    value.type === "ObjectExpression" &&
    value.properties.length > 0 &&
    value.properties.every(
      (property) =>
        property.type === "Property" &&
        property.value.type === "Identifier" &&
        isSchema(module.source(property.value.name)),
    );
  const names = module.named(isMapOfSchemas);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw unexpected(
      `its bundle maps revisions to schemas in ${names.length} objects instead of one`,
    );
  }
  const schemas = Object.entries(Object(module.value(name)));
  const found = schemas.map(([revision]) => revision).sort();
  if (found.join() !== PUBLISHED.join()) {
    throw unexpected(
      `it has the schemas of ${found.join(", ")} instead of ${PUBLISHED.join(", ")}`,
    );
  }
  return new Map(schemas.map(([revision, schema]) => [revision, checked(revision, schema)]));
}

function checked(revision: string, schema: unknown): Fields {
  const definitions = isFields(schema) ? (schema.$defs ?? schema.definitions) : undefined;
  for (const name of ["JSONRPCMessage", "ClientRequest", "ServerResult", "ServerNotification"]) {
    if (!isFields(definitions) || !isFields(definitions[name])) {
      throw unexpected(`its schema of ${revision} does not define ${name}`);
    }
  }
  return isFields(schema) ? schema : {};
}

function keysOf(value: Expression): string[] {
  if (value.type !== "ObjectExpression") return [];
  return value.properties.flatMap((property) =>
    property.type === "Property" && property.key.type === "Identifier" ? [property.key.name] : [],
  );
}

function unexpected(what: string): Error {
  return new Error(`Cannot take the official schemas out of ${PACKAGE}: ${what}.`);
}

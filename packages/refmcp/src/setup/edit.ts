import { isDeepStrictEqual } from "node:util";
import type { Json } from "../hosts/facts.ts";
import { jsonFormat } from "./formats/json.ts";
import { isRecord, type Key, SetupProblem, type TextFormat } from "./formats/text-format.ts";
import { tomlFormat } from "./formats/toml.ts";
import { yamlFormat } from "./formats/yaml.ts";

/** A key of an object, or the item of a list whose `field` has this value. */
export type Step = string | { readonly field: string; readonly value: string };

export const FORMATS: Readonly<Record<"json" | "jsonc" | "toml" | "yaml", TextFormat>> = {
  json: jsonFormat,
  jsonc: jsonFormat,
  toml: tomlFormat,
  yaml: yamlFormat,
};

function keyOf(node: unknown, step: Step): Key | undefined {
  if (typeof step === "string")
    return isRecord(node) && Object.hasOwn(node, step) ? step : undefined;
  if (!Array.isArray(node)) return undefined;
  const index = node.findIndex((item) => isRecord(item) && item[step.field] === step.value);
  return index === -1 ? undefined : index;
}

/** The keys of the part of `path` that exists. */
function existing(data: unknown, path: readonly Step[]): { keys: Key[]; node: unknown } {
  const keys: Key[] = [];
  let node = data;
  for (const step of path) {
    const key = keyOf(node, step);
    // An empty value, as after `extensions:` in YAML, counts as missing.
    const next: unknown = key === undefined ? undefined : Reflect.get(Object(node), key);
    if (key === undefined || next === null || next === undefined) break;
    keys.push(key);
    node = next;
  }
  return { keys, node };
}

/** The value at `path`; undefined if there is none. */
export function valueAt(data: unknown, path: readonly Step[]): unknown {
  const { keys, node } = existing(data, path);
  return keys.length === path.length ? node : undefined;
}

/** How many of the steps of `path` are missing. */
export function missingSteps(data: unknown, path: readonly Step[]): number {
  return path.length - existing(data, path).keys.length;
}

/**
 * The text with `value` at `path`, with everything around it unchanged; objects and lists on the way are created.
 *
 * @throws {SetupProblem} if the result would differ from the file in anything else.
 */
export function setAt(
  format: TextFormat,
  text: string,
  path: readonly Step[],
  value: Json,
): string {
  const data = format.parse(text);
  const { keys, node } = existing(data, path);
  const step = path[keys.length];
  if (step === undefined) {
    if (isRecord(node) && isRecord(value)) return setMembers(format, text, path, node, value);
    return verified(format, format.replace(text, keys, value), data, keys, value);
  }
  const inner = path.slice(keys.length + 1).reduceRight<Json>(wrap, value);
  if (typeof step === "string" ? !isRecord(node) : !Array.isArray(node)) {
    const [what, wanted] =
      typeof step === "string" ? ["the file", "an object"] : [keys.join("."), "a list"];
    throw new SetupProblem(`has an unexpected form: ${keys.join(".") || what} is not ${wanted}.`);
  }
  const added = [...keys, typeof step === "string" ? step : Object.values(Object(node)).length];
  const isEmptyValue = typeof step === "string" && Object.hasOwn(Object(node), step);
  const after = isEmptyValue
    ? format.replace(text, added, inner)
    : format.insert(text, added, inner);
  return verified(format, after, data, added, inner);
}

/** Members are replaced one by one where the language allows it, so that comments between them stay. */
function setMembers(
  format: TextFormat,
  text: string,
  path: readonly Step[],
  old: { [key: string]: unknown },
  value: { readonly [key: string]: unknown },
): string {
  if (format !== jsonFormat) {
    const { keys } = existing(format.parse(text), path);
    const data = format.parse(text);
    return verified(format, format.replace(text, keys, value as Json), data, keys, value as Json);
  }
  let changed = text;
  for (const key of Object.keys(old))
    if (!Object.hasOwn(value, key)) changed = removeAt(format, changed, [...path, key]);
  for (const [key, item] of Object.entries(value))
    if (!isDeepStrictEqual(old[key], item))
      changed = setAt(format, changed, [...path, key], item as Json);
  return changed;
}

function wrap(inner: Json, step: Step): Json {
  return typeof step === "string" ? { [step]: inner } : [inner];
}

/**
 * The text without the value at `path`, and without the `created` objects and lists around it if they are empty then.
 *
 * @throws {SetupProblem} if the result would differ from the file in anything else.
 */
export function removeAt(
  format: TextFormat,
  text: string,
  path: readonly Step[],
  created = 0,
): string {
  const data = format.parse(text);
  const { keys } = existing(data, path);
  if (keys.length < path.length) return text;
  const after = verified(format, format.remove(text, keys), data, keys, undefined);
  const parent = path.slice(0, -1);
  if (created === 0 || parent.length === 0) return after;
  const left = valueAt(format.parse(after), parent);
  const isEmpty = typeof left !== "object" || left === null || Object.keys(left).length === 0;
  return isEmpty && missingSteps(format.parse(after), parent) === 0
    ? removeAt(format, after, parent, created - 1)
    : after;
}

function verified(
  format: TextFormat,
  after: string,
  before: unknown,
  keys: readonly Key[],
  value: Json | undefined,
): string {
  const found = parsedOrUndefined(format, after);
  if (!isDeepStrictEqual(plain(found), plain(changedData(before, keys, value))))
    throw new SetupProblem(
      `cannot be changed without touching other parts of it. Change ${keys.join(".")} by hand: refmcp --print-config prints the entry.`,
    );
  return after;
}

function parsedOrUndefined(format: TextFormat, text: string): unknown {
  try {
    return format.parse(text);
  } catch {
    return undefined;
  }
}

/** Without prototypes, empty objects that a language does not write, and the languages' own date classes. */
function plain(data: unknown): unknown {
  return data === undefined
    ? {}
    : JSON.parse(
        JSON.stringify(data, (_, item) => (typeof item === "bigint" ? String(item) : item)),
      );
}

function changedData(data: unknown, keys: readonly Key[], value: Json | undefined): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (Array.isArray(data)) {
    const items: unknown[] = [...data];
    if (value === undefined && rest.length === 0) items.splice(Number(key), 1);
    else items[Number(key)] = changedData(items[Number(key)], rest, value);
    return items;
  }
  const { [key]: inner, ...others } = isRecord(data) ? data : {};
  if (value === undefined && rest.length === 0) return others;
  return { ...others, [key]: changedData(inner, rest, value) };
}

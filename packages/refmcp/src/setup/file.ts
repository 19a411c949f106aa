import { copyFileSync, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createPathGuard, DirectoryAllowlist, ensureDirectory } from "@refmcp/boundary";
import { isObject } from "@refmcp/core/run";
import * as jsonc from "jsonc-parser";
import { parse as parseToml, stringify } from "smol-toml";
import type { Host, HostEntry } from "../hosts/host.ts";

/** Why a file cannot be read or changed, or what the user must do first, as a sentence. */
export class SetupProblem extends Error {}

const BOM = "\uFEFF";

/** A host's file. */
interface ConfigFile {
  /** With links resolved, so that a linked file stays a link. */
  readonly path: string;
  /** Undefined if there is no file. */
  readonly bytes: Buffer | undefined;
  /** Without a byte order mark. */
  readonly text: string;
  readonly data: HostEntry;
}

/** Reads a file that may be missing. @throws {SetupProblem} */
export function readConfig(place: string, format?: Host["format"]): ConfigFile {
  try {
    const stat = statSync(place, { throwIfNoEntry: false });
    if (stat === undefined && lstatSync(place, { throwIfNoEntry: false }) === undefined)
      return { path: place, bytes: undefined, text: "", data: {} };
    if (stat?.isFile() !== true) throw new SetupProblem("is not a regular file.");
    const path = realpathSync(place);
    const bytes = readFileSync(path);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { path, bytes, text, data: format === "yaml" ? {} : dataOf(text, format) };
  } catch (error) {
    if (error instanceof SetupProblem) throw error;
    throw new SetupProblem(`cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

function dataOf(text: string, format: Host["format"]): HostEntry {
  if (text.trim() === "") return {};
  const errors: jsonc.ParseError[] = [];
  const data: unknown =
    format === "toml"
      ? structuredClone(parseToml(text))
      : jsonc.parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    const kind = jsonc.printParseErrorCode(error.error);
    throw new SetupProblem(`is not valid JSON: ${kind} in line ${line}.`);
  }
  if (!isObject(data)) throw new SetupProblem("is not an object.");
  return data;
}

/** The entry at a path; undefined if there is none. @throws {SetupProblem} if it is not an object. */
export function entryAt(data: HostEntry, path: readonly string[]): HostEntry | undefined {
  const value = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), data);
  if (value === undefined || isObject(value)) return value;
  throw new SetupProblem(`has something else as ${path.join(".")}, which stays.`);
}

/**
 * The text of a file with an entry, or without it. Everything else stays.
 *
 * @throws {SetupProblem} if it would not: a key occurs twice, or the servers are not in the usual form.
 */
export function withEntry(
  { text, data }: Pick<ConfigFile, "text" | "data">,
  format: Host["format"],
  path: readonly string[],
  entry: HostEntry | undefined,
): string {
  let after: string | undefined;
  try {
    after = (format === "toml" ? editToml : editJson)(text, path, entry);
    if (isDeepStrictEqual(plain(dataOf(after, format)), plain(changed(data, path, entry))))
      return after;
  } catch {
    // The message is the same as for a result that would be wrong.
  }
  const key = path.join(".");
  throw new SetupProblem(`cannot be changed without touching other parts. Change ${key} by hand.`);
}

/** Without prototypes, and without objects that became empty, which TOML does not write. */
const plain = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data), (_, value) =>
    isObject(value) && Object.keys(value).length === 0 ? undefined : value,
  );

function changed(data: HostEntry, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const inner = isObject(data[key]) ? data[key] : {};
  return { ...data, [key]: rest.length === 0 ? value : changed(inner, rest, value) };
}

function editJson(text: string, path: readonly string[], entry: HostEntry | undefined): string {
  const root = entry === undefined ? jsonc.parseTree(text) : undefined;
  const own = root && jsonc.findNodeAtLocation(root, [...path])?.parent;
  if (own !== undefined) {
    // Only its own comma goes: the line breaks and comments up to the next entry stay.
    const before = text.slice(0, own.offset).trimEnd();
    const rest = text.slice(own.offset + own.length);
    if (/^\s*,/.test(rest)) return before + rest.replace(/^\s*,/, "");
    if (before.endsWith("{") && /^\s*\}/.test(rest)) return before + rest.trimStart();
  }
  // A new entry comes first: thus the lines of the others, and the comments on them, stay.
  const [edit] = jsonc.modify(text, [...path], entry, { getInsertionIndex: () => 0 });
  if (edit === undefined) return text;
  const edited = jsonc.applyEdits(text, [edit]);
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  // Only the entry is formatted, with the brace before it and, if it is the only one, the brace after it.
  const offset = Math.max(0, edit.offset - 1);
  const end = edit.offset + edit.content.length + (edit.content.endsWith(",") ? 0 : 1);
  const options = { insertSpaces: !unit.includes("\t"), tabSize: unit.length, eol };
  const range = { offset, length: end - offset };
  const tidy = jsonc.applyEdits(edited, jsonc.format(edited, range, options));
  return text.trim() === "" ? `${tidy}${eol}` : tidy;
}

function editToml(text: string, path: readonly string[], entry: HostEntry | undefined): string {
  const header = path.join("\\.");
  const heading = `^\\[${header}(?:\\.[^\\]\\n]*)?\\][^\\n]*\\n`;
  const table = new RegExp(`(?:\\r?\\n)?${heading}(?:(?!\\s*[[#])[^\\n]*\\n)*`, "gm");
  const others = text.replace(table, "");
  if (entry === undefined) return others;
  const gap = others.trim() === "" ? "" : others.endsWith("\n") ? "\n" : "\n\n";
  const block = stringify(path.reduceRight<HostEntry>((inner, key) => ({ [key]: inner }), entry));
  const added = `${gap}${block.trimEnd()}\n`;
  return others + (text.includes("\r\n") ? added.replaceAll("\n", "\r\n") : added);
}

/**
 * Replaces a file atomically with its permissions, unless another program has changed it since it was read.
 *
 * @param copied whether a copy of the old file for people is put next to it
 * @throws {SetupProblem}
 */
export async function writeConfig(file: ConfigFile, text: string, copied: boolean): Promise<void> {
  const { path, bytes } = file;
  try {
    const folder = dirname(path);
    const { mode = 0o200 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if ((mode & 0o222) === 0) throw new SetupProblem("is read-only. Make it writable first.");
    ensureDirectory(folder);
    if (copied && existsSync(path))
      copyFileSync(path, join(folder, `${basename(path)}.before-refmcp`));
    const configured = [{ path: folder, source: "argument" as const }];
    const guard = createPathGuard(new DirectoryAllowlist({ configured, mode: "off" }));
    const hasBom = bytes?.subarray(0, 3).toString() === BOM;
    await guard.writeFile(path, Buffer.from(hasBom ? BOM + text : text), {
      async check(existing) {
        const now = await existing?.handle.readFile();
        if (!isDeepStrictEqual(now, bytes))
          throw new SetupProblem("was changed by another program. Run the command again.");
      },
    });
  } catch (error) {
    if (error instanceof SetupProblem) throw error;
    throw new SetupProblem(`cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

import { createHash } from "node:crypto";
import type { Repository } from "../open/repository.ts";
import { pathText, textOf, unquotePath } from "../run/text.ts";
import { DIFF_ARGS } from "./changed-files.ts";

/** Consecutive removed and added lines; a hunk has one or more of these. */
export interface Change {
  /** 7 hexadecimal digits: two of the path, five of the path and the lines. */
  readonly id: string;
  /** Indexes in `lines` of its file: the first line, and the one after the last. */
  readonly start: number;
  readonly end: number;
  /** Line numbers where it starts, from 1. */
  readonly old: number;
  readonly new: number;
}

interface PatchLine {
  readonly kind: " " | "-" | "+";
  /** With its line break; the last line of a file may have none. */
  readonly bytes: Buffer;
}

/** The patch of one file with lines. Binary files, submodules and changes of the type or only the mode have none. */
export interface FilePatch {
  /** Its line `diff --git …`, one character for each byte. */
  readonly header: string;
  readonly path: string;
  /** The former path of a renamed (not a copied) file. */
  readonly renamedFrom: string | undefined;
  /** Undefined for a new file. */
  readonly oldMode: string | undefined;
  /** Undefined for a deleted file. */
  readonly newMode: string | undefined;
  readonly oldId: string;
  readonly newId: string;
  readonly lines: readonly PatchLine[];
  readonly changes: readonly Change[];
}

/** More lines of context than any file has, so the patch contains the whole file. */
export const WHOLE_FILE = 100_000_000;
/** Lines of a patch that is read into memory, and changes of one file that get an id: there are 2^20 ids. */
const MAX_LINES = 1_000_000;
const MAX_CHANGES = 100_000;

/**
 * The changed lines of a comparison, with their ids. Ids don't depend on the number of context lines, if there are any:
 * without context git compares in another way.
 *
 * @returns undefined for a patch of more than 64 MiB or a million lines
 */
export async function filePatches(
  repository: Repository,
  between: readonly string[],
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
  context = 1,
): Promise<FilePatch[] | undefined> {
  const args = [
    "diff",
    ...DIFF_ARGS,
    "--patch",
    "--full-index",
    `--unified=${context}`,
    ...between,
  ];
  const result = await repository.run([...args, "--", ...paths], {
    env,
    config: [["diff.suppressBlankEmpty", "false"]],
  });
  if (result.cut || isLong(result.stdout)) return undefined;
  const files = result.code === 0 ? parsePatch(result.stdout) : [];
  // A change of the type is a deletion and a new file under the same name.
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(path, (counts.get(path) ?? 0) + 1);
  return files.filter(({ path }) => counts.get(path) === 1);
}

function isLong(patch: Buffer): boolean {
  let count = 0;
  for (let at = patch.indexOf(10); at !== -1; at = patch.indexOf(10, at + 1))
    if (++count > MAX_LINES) return true;
  return false;
}

/** Reads git's patch; the counts in its hunks' headers show what is content. */
function parsePatch(patch: Buffer): FilePatch[] {
  const files: FilePatch[] = [];
  let head: string[] = [];
  let lines: PatchLine[] = [];
  let starts: { index: number; old: number; new: number }[] = [];
  let [oldLeft, newLeft, oldAt, newAt] = [0, 0, 1, 1];
  let isInChange = false;
  const finish = (): void => {
    const file = lines.length === 0 ? undefined : fileOf(head, lines, starts);
    if (file !== undefined) files.push(file);
    [head, lines, starts] = [[], [], []];
  };
  for (let start = 0, end = 0; start < patch.length; start = end) {
    const found = patch.indexOf(10, start);
    end = found === -1 ? patch.length : found + 1;
    const bytes = patch.subarray(start, end);
    const kind = String.fromCharCode(bytes[0] ?? 0);
    if (kind === "\\") {
      const last = lines.pop();
      if (last !== undefined) lines.push({ ...last, bytes: last.bytes.subarray(0, -1) });
    } else if ((oldLeft > 0 || newLeft > 0) && (kind === " " || kind === "-" || kind === "+")) {
      if (kind !== " " && !isInChange) starts.push({ index: lines.length, old: oldAt, new: newAt });
      isInChange = kind !== " ";
      lines.push({ kind, bytes: bytes.subarray(1) });
      if (kind !== "+") [oldLeft, oldAt] = [oldLeft - 1, oldAt + 1];
      if (kind !== "-") [newLeft, newAt] = [newLeft - 1, newAt + 1];
    } else {
      const text = bytes.toString("latin1").replace(/\n$/, "");
      const range = rangesOf(text);
      isInChange = false;
      if (range !== undefined) {
        [oldLeft, newLeft, oldAt, newAt] = [range.oldLines, range.newLines, range.old, range.new];
      } else {
        if (text.startsWith("diff --")) finish();
        head.push(text);
      }
    }
  }
  finish();
  return files;
}

function fileOf(
  head: readonly string[],
  lines: readonly PatchLine[],
  starts: readonly { index: number; old: number; new: number }[],
): FilePatch | undefined {
  const value = (name: string) => head.find((line) => line.startsWith(name))?.slice(name.length);
  const [, oldId = "", newId = "", mode] =
    /^([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?$/.exec(value("index ") ?? "") ?? [];
  const isNew = value("new file mode ") !== undefined;
  const isDeleted = value("deleted file mode ") !== undefined;
  const oldMode = value("old mode ") ?? value("deleted file mode ") ?? mode;
  const newMode = value("new mode ") ?? value("new file mode ") ?? mode;
  const name = isDeleted ? nameOf(value("--- ")).slice(2) : nameOf(value("+++ ")).slice(2);
  const isSubmodule = oldMode === "160000" || newMode === "160000";
  if (!head[0]?.startsWith("diff --git ") || name === "" || oldId === "" || isSubmodule)
    return undefined;
  const from = value("rename from ");
  const path = pathText(Buffer.from(name, "latin1"));
  return {
    header: head[0],
    path,
    renamedFrom: from === undefined ? undefined : pathText(Buffer.from(nameOf(from), "latin1")),
    oldMode: isNew ? undefined : oldMode,
    newMode: isDeleted ? undefined : newMode,
    oldId,
    newId,
    lines,
    changes: changesIn(path, lines, starts),
  };
}

/** A name in a patch, one character for each byte: in quotes, or with a tab after it if it contains spaces. */
function nameOf(text = ""): string {
  return text.startsWith('"') ? unquotePath(text).toString("latin1") : text.replace(/\t$/, "");
}

function changesIn(
  path: string,
  lines: readonly PatchLine[],
  starts: readonly { index: number; old: number; new: number }[],
): Change[] {
  const prefix = digest([path]).slice(0, 2);
  const used = new Set<string>();
  /** How often each content was seen: equal changes of a file are counted. */
  const counts = new Map<string, number>();
  return starts.slice(0, MAX_CHANGES).map(({ index: start, ...at }, position) => {
    const next = starts[position + 1]?.index ?? lines.length;
    let end = start;
    while (end < next && lines[end]?.kind !== " ") end++;
    const content = lines.slice(start, end).flatMap(({ kind, bytes }) => [kind, bytes]);
    const key = digest(content);
    for (let count = counts.get(key) ?? 0; ; count++) {
      const id = prefix + digest([`${path}\0${count}\0${key}`]).slice(0, 5);
      if (used.has(id)) continue;
      used.add(id);
      counts.set(key, count + 1);
      return { id, start, end, ...at };
    }
  });
}

function digest(parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** Maximum ids in a hunk's header. With fewer lines of context, hunks have fewer changes. */
const MAX_SHOWN = 20;

/**
 * Adds ids to the hunks' headers, where programs that apply patches ignore them: `@@ -1,5 +1,7 @@ function f() [3fa01c2]`.
 *
 * @param before the lines before these that name the current file
 */
export function withIds(
  files: readonly FilePatch[],
  lines: readonly Buffer[],
  before: readonly Buffer[],
): Buffer[] {
  const byHeader = new Map(files.map((file) => [file.header, file]));
  let file = byHeader.get(before[0]?.toString("latin1") ?? "");
  return lines.map((line) => {
    if (line[0] !== 64 && line[0] !== 100) return line;
    const text = line.toString("latin1");
    if (text.startsWith("diff --")) file = byHeader.get(text);
    const range = rangesOf(text);
    if (range === undefined || file === undefined) return line;
    const changes = file.changes.filter(
      (change) =>
        change.old >= range.old &&
        change.old <= range.old + range.oldLines &&
        change.new >= range.new &&
        change.new <= range.new + range.newLines,
    );
    if (changes.length === 0) return line;
    const ids = changes.slice(0, MAX_SHOWN).map(({ id }) => id);
    if (changes.length > MAX_SHOWN) ids.push(`… ${changes.length - MAX_SHOWN} more`);
    return Buffer.concat([line, Buffer.from(` [${ids.join(" ")}]`)]);
  });
}

/** `@@ -1,5 +1,7 @@`: where both sides begin, and their numbers of lines; without lines git names the line before. */
function rangesOf(header: string) {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header);
  if (found === null) return undefined;
  const [oldLines, newLines] = [Number(found[2] ?? 1), Number(found[4] ?? 1)];
  return {
    old: Number(found[1]) + (oldLines === 0 ? 1 : 0),
    new: Number(found[3]) + (newLines === 0 ? 1 : 0),
    oldLines,
    newLines,
  };
}

/** The first line of a change, for a list of ids. */
export function firstLine({ lines }: FilePatch, { start }: Change): string {
  const line = lines[start];
  return line === undefined ? "" : `${line.kind}${textOf(line.bytes).trimEnd()}`;
}

import { clip, oneLine, type ToolError } from "@refmcp/boundary/answer";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { comparing, DIFF_ARGS } from "../read/changes.ts";
import { addUntracked } from "../read/diff.ts";
import { refuseFilters } from "../read/filters.ts";
import { type Change, type Hunk, PatchReader } from "../read/patch.ts";
import { failure, failureOf } from "../run/errors.ts";
import { firstNames, textOf } from "../run/text.ts";

interface HunkQuery {
  /** `3fa01c2`, or some of its lines: `3fa01c2:2-4`. */
  readonly ids: readonly string[];
  /** Where the ids are from: the index and the working tree, or HEAD and the index. */
  readonly from: "unstaged" | "staged";
  /** Whether the patch will be applied in reverse. */
  readonly reverse: boolean;
  /** Whether the ids may be those of untracked files. */
  readonly untracked?: boolean;
}

/** A selected change, or some of its lines. */
interface Selected {
  readonly text: string;
  readonly id: string;
  /** The first and the last changed line, from 1. */
  readonly first: number;
  readonly last: number;
}

/** A patch of selected changes, and the files that it changes. */
interface SelectedPatch {
  readonly patch: Buffer;
  readonly paths: readonly string[];
}

/**
 * A patch of some changes: git's own, with the other lines left out.
 *
 * @throws ToolError `stale_hunk`, `bad_hunk`, `filter_needed`
 */
export async function selectedPatch(
  repository: Repository,
  query: HunkQuery,
): Promise<SelectedPatch> {
  const wanted = query.ids.map(parseId);
  const between = query.from === "staged" ? ["--cached"] : [];
  const hunks = await comparing(repository, between, async (env) => {
    const first = await readHunks(repository, between, wanted, env);
    if (!query.untracked || wanted.every((part) => first.matching(part).length > 0)) return first;
    await addUntracked(repository, [], env);
    return readHunks(repository, between, wanted, env);
  });
  const chosen = new Map<Hunk, Set<number>>();
  for (const part of wanted) {
    const [match, another] = hunks.matching(part);
    if (match === undefined || another !== undefined) throw stale(hunks.near, part, query.from);
    const lines = chosen.get(match.hunk) ?? new Set();
    chosen.set(match.hunk, lines);
    for (const index of linesOf(part, match)) lines.add(index);
  }
  const paths = [...new Set([...chosen.keys()].map(({ path }) => path))].sort();
  await refuseFilters(repository, () => pathBytes(repository, paths));
  const parts = hunks.all.flatMap((hunk): PatchPart[] => {
    const lines = chosen.get(hunk);
    return lines === undefined ? [] : [{ hunk, lines }];
  });
  return { patch: partOf(parts, query.reverse), paths };
}

/**
 * Applies a patch: to the index with `--cached`, else to the working tree.
 *
 * @returns whether it applies
 */
export async function applyPatch(
  repository: Repository,
  { patch }: SelectedPatch,
  how: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const result = await repository.run(["apply", "--whitespace=nowarn", ...how, "-"], {
    input: patch,
    env,
    config: [["apply.ignoreWhitespace", "no"]],
  });
  if (result.code > 1) throw failureOf(result, "apply the changes");
  return result.code === 0;
}

function parseId(text: string): Selected {
  const [, id, first, last = first] =
    /^([0-9a-f]{7})(?::(\d{1,8})(?:-(\d{1,8}))?)?$/.exec(text) ?? [];
  const range = { first: Number(first ?? 1), last: Number(last ?? Number.MAX_SAFE_INTEGER) };
  if (id !== undefined && range.first >= 1 && range.last >= range.first)
    return { text, id, ...range };
  throw failure("bad_hunk", `"${oneLine(text.slice(0, 60))}" is not the id of a change.`);
}

interface Match {
  readonly hunk: Hunk;
  readonly change: Change;
}

/** The hunks with selected changes, and other changes of the same files. */
async function readHunks(
  repository: Repository,
  between: readonly string[],
  wanted: readonly Selected[],
  env: Readonly<Record<string, string>>,
) {
  const ids = new Set(wanted.map(({ id }) => id));
  const prefixes = new Set(wanted.map(({ id }) => id.slice(0, 2)));
  const all: Hunk[] = [];
  const near: Match[] = [];
  const reader = new PatchReader({
    line: () => undefined,
    hunk(hunk) {
      if (hunk.changes.some(({ id }) => ids.has(id))) all.push(hunk);
      for (const change of hunk.changes)
        if (near.length < 100 && prefixes.has(change.id.slice(0, 2))) near.push({ hunk, change });
    },
  });
  const args = ["diff", ...DIFF_ARGS, "--patch", "--full-index", "--unified=3", ...between, "--"];
  await repository.output(args, "compare", {
    env,
    config: [["diff.suppressBlankEmpty", "false"]],
    maxBytes: Number.MAX_SAFE_INTEGER,
    onStdout(chunk) {
      reader.add(chunk);
      return true;
    },
  });
  reader.end();
  const matching = ({ id }: Selected): Match[] =>
    all.flatMap((hunk) =>
      hunk.changes.flatMap((change) => (change.id === id ? [{ hunk, change }] : [])),
    );
  return { all, near, matching };
}

/** The error for an unknown id, with the current ids of its path. */
function stale(near: readonly Match[], { text, id }: Selected, from: string): ToolError {
  const list = near
    .filter(({ change }) => change.id.slice(0, 2) === id.slice(0, 2))
    .map(({ hunk: { header, lines, path }, change: { id: current, start } }) => {
      const begin = Number(/\+(\d+)/.exec(header.toString("latin1"))?.[1]);
      const line = begin + lines.slice(0, start).filter(([kind]) => kind !== 45).length;
      const first = textOf(lines[start] ?? Buffer.alloc(0)).trimEnd();
      return `${current} (${path} line ${line}: ${clip(first, 60)})`;
    });
  const now = list.length === 0 ? "" : ` Current ids there: ${firstNames(list, 20)}.`;
  const message = `No single ${from} change has the id ${text}.${now} Nothing was changed.`;
  const hint = `git_diff_${from} shows the current ids. Binary files, submodules and modes have none: pass them in files.`;
  return failure("stale_hunk", message, { hint });
}

/** The indexes of the lines that a selection names; `\ No newline` counts with the line before. */
function linesOf({ text, first, last }: Selected, { hunk, change }: Match): number[] {
  const all: number[] = [];
  for (let index = change.start; index < change.end; index++)
    if (hunk.lines[index]?.[0] !== 92) all.push(index);
  const isWhole = last === Number.MAX_SAFE_INTEGER;
  if (first <= all.length && (isWhole || last <= all.length)) return all.slice(first - 1, last);
  const message = `${text}: that change has ${all.length} changed lines, counted from 1.`;
  throw failure("bad_hunk", message);
}

/** A hunk of which some lines are wanted. */
interface PatchPart {
  readonly hunk: Hunk;
  /** Indexes of the wanted lines. */
  readonly lines: ReadonlySet<number>;
}

interface Line {
  readonly kind: string;
  /** With its line break. */
  readonly text: Buffer;
  /** Whether it is the last line of a file that has no line break there. */
  readonly isUnended: boolean;
}

const UNENDED = Buffer.from("\\ No newline at end of file\n");

/**
 * A patch of the wanted lines only, as `git add --patch` makes it: an unwanted line of the side that
 * the patch is applied to becomes context, one of the other side is left out.
 *
 * @param parts in the order of the whole patch
 * @param reverse whether it will be applied in reverse (`git apply -R`)
 */
function partOf(parts: readonly PatchPart[], reverse: boolean): Buffer {
  const files = new Map<readonly Buffer[], PatchPart[]>();
  for (const part of parts) {
    const { fileHeader } = part.hunk;
    files.set(fileHeader, [...(files.get(fileHeader) ?? []), part]);
  }
  const all = [...files].flatMap(([header, ofFile]) => {
    // A new or deleted file has one hunk.
    const isAll = ofFile.every(({ hunk, lines }) =>
      hunk.lines.every((line, index) => lines.has(index) || line[0] === 92),
    );
    return [headerOf(header, isAll, reverse), ...ofFile.map((part) => hunkOf(part, reverse))];
  });
  return Buffer.concat(all);
}

/** The header of a file, without its mode: a change of only the mode has no id. */
function headerOf(header: readonly Buffer[], isAll: boolean, reverse: boolean): Buffer {
  const lines = header.map((line) => line.toString("latin1").replace(/\n$/, ""));
  const line = (start: string) => lines.find((each) => each.startsWith(start));
  const value = (start: string) => line(start)?.slice(start.length) ?? "";
  const [isNew, isDeleted] = [line("new file mode "), line("deleted file mode ")];
  const [before, after] = [value("--- "), value("+++ ")];
  const named = (name: string, side: "a" | "b") => name.replace(/^("?)[ab]\//, `$1${side}/`);
  // In reverse a new file is removed, or stays with the lines that are not wanted.
  const creates = isNew !== undefined && (!reverse || isAll);
  const deletes = isDeleted !== undefined && (reverse || isAll);
  const renames = !reverse && line("rename from ") !== undefined;
  const name = after === "/dev/null" ? before : after;
  const old = creates ? "/dev/null" : renames ? before : named(name, "a");
  const head = (side: string) => side.replace(/\t$/, "");
  const result = [
    `diff --git ${head(named(renames ? before : name, "a"))} ${head(named(name, "b"))}`,
    ...(creates ? [isNew] : []),
    ...(deletes ? [isDeleted] : []),
    ...(renames ? [line("rename from "), line("rename to ")] : []),
    line("index "),
    `--- ${old}`,
    `+++ ${deletes ? "/dev/null" : named(name, "b")}`,
  ];
  return Buffer.from(`${result.filter((each) => each !== undefined).join("\n")}\n`, "latin1");
}

function hunkOf({ hunk, lines: wanted }: PatchPart, reverse: boolean): Buffer {
  const lines = ended(neutralized(hunk.lines, wanted, reverse), reverse);
  const [, before = "", after = ""] =
    /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(hunk.header.toString("latin1")) ?? [];
  const count = (without: string) => lines.filter(({ kind }) => kind !== without).length;
  const header = `@@ -${before},${count("+")} +${after},${count("-")} @@\n`;
  return Buffer.concat([
    Buffer.from(header),
    ...lines.flatMap(({ kind, text, isUnended }) => [
      Buffer.from(kind),
      text,
      ...(isUnended ? [UNENDED] : []),
    ]),
  ]);
}

function neutralized(
  lines: readonly Buffer[],
  wanted: ReadonlySet<number>,
  reverse: boolean,
): Line[] {
  const left = reverse ? "-" : "+";
  return lines.flatMap((line, index): Line[] => {
    const kind = String.fromCharCode(line[0] ?? 0);
    if (kind === "\\") return [];
    const isUnended = lines[index + 1]?.[0] === 92;
    const text = line.subarray(1);
    if (kind === " " || wanted.has(index)) return [{ kind, text, isUnended }];
    return kind === left ? [] : [{ kind: " ", text, isUnended }];
  });
}

/** Only the last line of the result may be without a line break. */
function ended(lines: readonly Line[], reverse: boolean): Line[] {
  const [removed, added] = reverse ? ["+", "-"] : ["-", "+"];
  return lines.flatMap((line, index) => {
    if (!line.isUnended || line.kind === removed) return [line];
    if (lines.slice(index + 1).every(({ kind }) => kind === removed)) return [line];
    if (line.kind === added) return [{ ...line, isUnended: false }];
    return [
      { ...line, kind: removed },
      { ...line, kind: added, isUnended: false },
    ];
  });
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { operationOf, progressOf } from "../read/operation.ts";
import { CONFLICTS } from "../read/status.ts";
import { inTemporaryFolder } from "../read/temporary-index.ts";
import { failure } from "../run/errors.ts";
import { firstNames, pathText, records, stagedEntry, textOf } from "../run/text.ts";

/** Lines that conflict; `line` counts from 1 in ours. */
interface ConflictHunk {
  readonly line: number;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** A conflicted path in a response. `ours` is the current side, `theirs` what is being merged or applied. */
interface Conflict {
  readonly path: string;
  /** As in git_status: both modified, deleted by them … */
  readonly kind: string;
  readonly hunks?: readonly ConflictHunk[];
  /** Hunks that did not fit. */
  readonly left_out?: number | undefined;
  /** Whole versions, where git has no conflicting lines to show. */
  readonly base?: string;
  readonly ours?: string;
  readonly theirs?: string;
}

/** What a response reports about conflicts. It is described here only, because models pay for a detailed schema. */
export const conflictFields = {
  conflicts: z.array(z.unknown()).optional(),
  /** The commit that is being applied: its id, subject and number. */
  applying: z.string().optional(),
};

type Side = "base" | "ours" | "theirs";
const SIDES: readonly Side[] = ["base", "ours", "theirs"];
/** git's letters for a conflict, by which sides exist. */
const LETTERS: Readonly<Record<string, string>> = {
  base: "DD",
  ours: "AU",
  theirs: "UA",
  "base ours": "UD",
  "base theirs": "DU",
  "ours theirs": "AA",
  "base ours theirs": "UU",
};

/** A conflicted path with the versions that exist. */
interface Unmerged {
  readonly path: Buffer;
  readonly sides: Partial<
    Record<Side, { readonly mode: string; readonly oid: string } | undefined>
  >;
}

/** The conflicts in the index, sorted by path. */
async function unmergedIn(repository: Repository): Promise<Unmerged[]> {
  const list = ["ls-files", "--unmerged", "-z"];
  const entries = records(await repository.output(list, "list the conflicts")).map(stagedEntry);
  const byPath = new Map<string, Unmerged>();
  for (const { mode, oid, stage, path } of entries) {
    const key = path.toString("latin1");
    const side = SIDES[Number(stage) - 1];
    if (side === undefined) continue;
    byPath.set(key, { path, sides: { ...byPath.get(key)?.sides, [side]: { mode, oid } } });
  }
  return [...byPath.values()];
}

/** Paths with conflicts, sorted. */
export async function conflictedPaths(repository: Repository): Promise<string[]> {
  return (await unmergedIn(repository)).map(({ path }) => path.toString("utf8"));
}

/** @throws ToolError `conflict` naming the files */
export async function refuseConflicts(repository: Repository): Promise<void> {
  const paths = await conflictedPaths(repository);
  if (paths.length === 0) return;
  throw failure("conflict", `There are unresolved conflicts in ${firstNames(paths)}.`, {
    hint: "Edit these files, git_add them, then commit.",
  });
}

/**
 * The conflicts in the index and the commit that caused them, for the response of a command that
 * stopped.
 */
export async function conflictReport(repository: Repository, budget: number) {
  const unmerged = await unmergedIn(repository);
  const conflicted = unmerged.slice(0, 200).map(({ path }) => path.toString("utf8"));
  const conflicts = await describeConflicts(repository, unmerged, budget);
  const progress = await progressOf(repository, operationOf(repository));
  const { commit, step = 0, steps = 0 } = progress;
  if (commit === undefined) return { conflicted, conflicts };
  const args = ["log", "--max-count=1", "--no-show-signature", "--format=%s", commit, "--"];
  const subject = oneLine(clip(await repository.value(args, "read the commit"), 100));
  const where = steps > 0 ? ` (${step} of ${steps})` : "";
  return { conflicted, conflicts, applying: `${commit.slice(0, 10)} ${subject}${where}` };
}

/** How many conflicts are described; `conflicted` lists the paths of all. */
const MAX_DESCRIBED = 20;

/** What conflicts in each path, all within the budget. */
async function describeConflicts(
  repository: Repository,
  unmerged: readonly Unmerged[],
  budget: number,
): Promise<Conflict[]> {
  const described = unmerged.slice(0, MAX_DESCRIBED);
  const share = Math.max(400, Math.floor(budget / Math.max(1, described.length)));
  const conflicts: Conflict[] = [];
  for (const conflict of described)
    conflicts.push(await describeConflict(repository, conflict, share));
  return conflicts;
}

async function describeConflict(
  repository: Repository,
  { path, sides }: Unmerged,
  budget: number,
): Promise<Conflict> {
  const present = SIDES.filter((side) => sides[side] !== undefined);
  const letters = LETTERS[present.join(" ")] ?? "";
  const facts = { path: pathText(path), kind: CONFLICTS[letters] ?? "conflict" };
  const hunks = await conflictsIn(repository, sides, Math.floor(budget / 3));
  if (hunks.length > 0) {
    const fit = fitting(hunks, budget);
    const left_out = hunks.length > fit ? hunks.length - fit : undefined;
    return { ...facts, hunks: hunks.slice(0, fit), left_out };
  }
  const size = Math.floor(budget / present.length);
  const texts: Partial<Record<Side, string>> = {};
  for (const side of present) texts[side] = await versionText(repository, sides[side], size);
  return { ...facts, ...texts };
}

function shorten(text: string, size: number): string {
  if (text.length <= size) return text;
  return `${clip(text, size)}… (${text.length - size} more characters)`;
}

async function versionText(
  repository: Repository,
  version: { readonly mode: string; readonly oid: string } | undefined,
  size: number,
): Promise<string> {
  if (version === undefined) return "";
  if (version.mode === "160000") return `submodule at ${version.oid}`;
  const content = await contentOf(repository, version.oid);
  const isBinary = content.subarray(0, 8_000).includes(0);
  return isBinary ? `binary, ${content.length} bytes` : shorten(textOf(content), size);
}

const contentOf = (repository: Repository, oid: string) =>
  repository.output(["cat-file", "blob", oid], "read a version of the file");

/** Files do not happen to have lines that begin with this many of a character. */
const MARKER_SIZE = 61;
const MARKER = new RegExp(`^([<|=>])\\1{${MARKER_SIZE - 1}}( [a-z]+)?\r?$`);

/** The conflicts in a merged file, as `git merge-file` finds them; none if a side is not text. */
async function conflictsIn(
  repository: Repository,
  { base, ours, theirs }: Unmerged["sides"],
  size: number,
): Promise<ConflictHunk[]> {
  const versions = { ours, base, theirs };
  const isFile = (version: (typeof versions)[Side]) => version?.mode.startsWith("100") ?? true;
  if (ours === undefined || theirs === undefined || !Object.values(versions).every(isFile))
    return [];
  return inTemporaryFolder(async (folder) => {
    const files: string[] = [];
    for (const [name, version] of Object.entries(versions)) {
      const content = version === undefined ? "" : await contentOf(repository, version.oid);
      files.push(join(folder, name));
      await writeFile(join(folder, name), content);
    }
    const labels = ["-L", "ours", "-L", "base", "-L", "theirs"];
    const how = ["merge-file", "-p", "--quiet", "--diff3", `--marker-size=${MARKER_SIZE}`];
    const result = await repository.run([...how, ...labels, ...files]);
    // The number of conflicts, or an error such as a binary file.
    return result.code > 127 ? [] : parseMerged(textOf(result.stdout), size);
  });
}

function parseMerged(merged: string, size: number): ConflictHunk[] {
  const hunks: ConflictHunk[] = [];
  let line = 1;
  let side: Side | undefined;
  let texts = { base: "", ours: "", theirs: "" };
  for (const [text, content = ""] of merged.matchAll(/([^\n]*)(?:\n|$)/g)) {
    const [, mark] = MARKER.exec(content) ?? [];
    if (mark === "<") [side, texts] = ["ours", { base: "", ours: "", theirs: "" }];
    else if (mark === "|") side = "base";
    else if (mark === "=" && side !== undefined) side = "theirs";
    else if (mark === ">" && side !== undefined) {
      side = undefined;
      const { base, ours, theirs } = texts;
      const [shownBase, shownOurs] = [shorten(base, size), shorten(ours, size)];
      hunks.push({ line, base: shownBase, ours: shownOurs, theirs: shorten(theirs, size) });
      line += ours.split("\n").length - 1;
    } else if (side !== undefined) texts[side] += text;
    else line += 1;
  }
  return hunks;
}

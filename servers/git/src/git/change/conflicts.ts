import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { inTemporaryFolder } from "../read/changed-files.ts";
import { operationOf, progressOf } from "../read/operation.ts";
import { CONFLICTS } from "../read/status.ts";
import { pathText, records, stagedEntry, textOf } from "../run/text.ts";
import { type ReadCommit, readCommits, subjectOf } from "./raw-commits.ts";

/** A conflicted path in a response. `ours` is the current side, `theirs` what is being merged or applied. */
interface Conflict {
  readonly path: string;
  /** As in git_status: both modified, deleted by them … */
  readonly kind: string;
  /** The lines that conflict; `line` counts from 1 in ours. */
  readonly hunks?: readonly { line: number; base: string; ours: string; theirs: string }[];
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
export interface Unmerged {
  readonly path: Buffer;
  readonly sides: Partial<
    Record<Side, { readonly mode: string; readonly oid: string } | undefined>
  >;
}

/** Reads `mode oid stage TAB path NUL`, as `ls-files --unmerged -z` and `merge-tree -z` print it; sorted by path. */
export function parseStages(fields: readonly Buffer[]): Unmerged[] {
  const found = new Map<string, { path: Buffer; sides: Unmerged["sides"] }>();
  for (const { mode, oid, stage, path } of fields.map(stagedEntry)) {
    const key = path.toString("latin1");
    const side = SIDES[Number(stage) - 1];
    if (side === undefined) continue;
    found.set(key, { path, sides: { ...found.get(key)?.sides, [side]: { mode, oid } } });
  }
  return [...found.values()].sort((a, b) => Buffer.compare(a.path, b.path));
}

/** The conflicts in the index and the commit that caused them, for the response of a command that stopped. */
export async function conflictReport(
  repository: Repository,
  paths: readonly string[],
  budget: number,
) {
  const list = ["ls-files", "--unmerged", "-z"];
  const unmerged = parseStages(records(await repository.output(list, "list the conflicts")));
  const conflicted = paths.slice(0, 200);
  const conflicts = await describeConflicts(repository, unmerged, budget);
  const { commit: oid, step, steps } = await progressOf(repository, operationOf(repository));
  if (oid === undefined) return { conflicted, conflicts };
  const [commit] = (await readCommits(repository, [oid])).values();
  return { conflicted, conflicts, applying: commit && applyingText(commit, step, steps) };
}

/** Which commit is being applied, and where in a sequence if it is one. */
export function applyingText(commit: ReadCommit, step = 0, steps = 0): string {
  return `${commit.oid.slice(0, 10)} ${subjectOf(commit)}${steps > 0 ? ` (${step} of ${steps})` : ""}`;
}

/** How many conflicts are described; `conflicted` lists the paths of all. */
const MAX_DESCRIBED = 20;

/** What conflicts in each path, all within the budget. */
export async function describeConflicts(
  repository: Repository,
  unmerged: readonly Unmerged[],
  budget: number,
): Promise<Conflict[]> {
  const described = unmerged.slice(0, MAX_DESCRIBED);
  const share = Math.max(400, Math.floor(budget / Math.max(1, described.length)));
  const conflicts: Conflict[] = [];
  for (const { path, sides } of described) {
    const present = SIDES.filter((side) => sides[side] !== undefined);
    const facts = {
      path: pathText(path),
      kind: CONFLICTS[LETTERS[present.join(" ")] ?? ""] ?? "conflict",
    };
    const hunks =
      (await mergedPieces(repository, sides))?.filter((piece) => typeof piece !== "string") ?? [];
    if (hunks.length > 0) {
      const size = Math.floor(share / 3);
      const shown = hunks.map(({ line, ...texts }) => ({
        line,
        base: shorten(texts.base, size),
        ours: shorten(texts.ours, size),
        theirs: shorten(texts.theirs, size),
      }));
      const fit = fitting(shown, share);
      const left_out = shown.length > fit ? shown.length - fit : undefined;
      conflicts.push({ ...facts, hunks: shown.slice(0, fit), left_out });
      continue;
    }
    const size = Math.floor(share / present.length);
    const texts = present.map(
      async (side) => [side, await versionText(repository, sides, side, size)] as const,
    );
    conflicts.push({ ...facts, ...Object.fromEntries(await Promise.all(texts)) });
  }
  return conflicts;
}

function shorten(latin1: string, size: number): string {
  const text = textOf(Buffer.from(latin1, "latin1"));
  return text.length <= size
    ? text
    : `${clip(text, size)}… (${text.length - size} more characters)`;
}

async function versionText(
  repository: Repository,
  sides: Unmerged["sides"],
  side: Side,
  size: number,
) {
  const version = sides[side];
  if (version === undefined) return "";
  if (version.mode === SUBMODULE) return `submodule at ${version.oid}`;
  const content = (await repository.contents([version.oid])).get(version.oid);
  if (content === undefined) return "too large to show";
  return isText(content)
    ? shorten(content.toString("latin1"), size)
    : `binary, ${content.length} bytes`;
}

const SUBMODULE = "160000";
const isText = (content: Buffer): boolean => !content.subarray(0, 8_000).includes(0);

/** A part of a merged file: text on which the sides agree, or a conflict. All texts are Latin-1, so bytes are kept. */
type Piece =
  | string
  | {
      readonly line: number;
      readonly base: string;
      readonly ours: string;
      readonly theirs: string;
    };

/** Files do not happen to have lines that begin with this many of a character. */
const MARKER_SIZE = 61;
const MARKER = new RegExp(`^([<|=>])\\1{${MARKER_SIZE - 1}}( [a-z]+)?\r?$`);

/**
 * Merges the versions of a file, as `git merge-file` does.
 *
 * @returns its parts; undefined if one side is not text
 */
export async function mergedPieces(
  repository: Repository,
  sides: Unmerged["sides"],
): Promise<Piece[] | undefined> {
  const { base, ours, theirs } = sides;
  if (ours === undefined || theirs === undefined) return undefined;
  const found = [ours, base, theirs].map((version) => version ?? { mode: "100644", oid: "" });
  if (found.some(({ mode }) => !mode.startsWith("100"))) return undefined;
  const oids = found.map(({ oid }) => oid).filter(Boolean);
  const contents = await repository.contents(oids);
  if (oids.some((oid) => contents.get(oid) === undefined)) return undefined;
  return inTemporaryFolder(async (folder) => {
    const files = ["ours", "base", "theirs"].map((name) => join(folder, name));
    for (const [index, file] of files.entries())
      await writeFile(file, contents.get(found[index]?.oid ?? "") ?? "");
    const labels = ["-L", "ours", "-L", "base", "-L", "theirs"];
    const how = [
      "merge-file",
      "-p",
      "--quiet",
      "--diff3",
      `--marker-size=${MARKER_SIZE}`,
      ...labels,
    ];
    const result = await repository.run([...how, ...files]);
    // The number of conflicts, or an error such as a binary file.
    return result.code > 127 ? undefined : parsePieces(result.stdout.toString("latin1"));
  });
}

function parsePieces(merged: string): Piece[] {
  const pieces: Piece[] = [];
  let line = 1;
  let side: Side | undefined;
  let texts: Record<Side, string> = { base: "", ours: "", theirs: "" };
  let clean = "";
  for (const [text, content] of merged.matchAll(/([^\n]*)(?:\n|$)/g)) {
    if (text === "") break;
    const [, mark] = MARKER.exec(content ?? "") ?? [];
    if (mark === "<") {
      pieces.push(clean);
      clean = "";
      texts = { base: "", ours: "", theirs: "" };
      side = "ours";
    } else if (mark === "|") side = "base";
    else if (mark === "=" && side !== undefined) side = "theirs";
    else if (mark === ">" && side !== undefined) {
      pieces.push({ line, ...texts });
      line += texts.ours.split("\n").length - 1;
      side = undefined;
    } else if (side !== undefined) texts[side] += text;
    else {
      clean += text;
      line += 1;
    }
  }
  return [...pieces, clean];
}

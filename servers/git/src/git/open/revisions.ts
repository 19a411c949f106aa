import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import { badRevision, failure, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { linesOf } from "../run/text.ts";
import type { Named, Repository } from "./repository.ts";

const MAX_REVISION_CHARS = 1_000;

/** Refuses text that cannot be a revision, before git sees it. */
export function checked(revision: string): string {
  if (revision === "" || revision.length > MAX_REVISION_CHARS || /[\0\n\r]/.test(revision))
    throw badRevision(revision);
  return revision;
}

/** The object that a revision names: a commit, tag, tree or blob. */
export async function objectOf(repository: Repository, revision: string): Promise<Named> {
  const [found] = await repository.lookUp([checked(revision)]);
  return found ?? (await explainMissing(repository, revision));
}

/** The commits that revisions name, in order. One git process looks all of them up. */
export async function commitsOf(
  repository: Repository,
  revisions: readonly string[],
): Promise<string[]> {
  const found = await repository.lookUp(
    revisions.map((revision) => `${checked(revision)}^{commit}`),
  );
  const oids: string[] = [];
  for (const [index, revision] of revisions.entries())
    oids.push((found[index] ?? (await explainMissing(repository, revision))).oid);
  return oids;
}

export async function commitOf(repository: Repository, revision: string): Promise<string> {
  const [oid = ""] = await commitsOf(repository, [revision]);
  return oid;
}

/** What is below these folders of refs. */
export const KINDS = { heads: "branch", tags: "tag" } as const;
export type NameKind = keyof typeof KINDS;

/** A local branch or tag. @throws ToolError `bad_revision` with near names */
export async function refOf(repository: Repository, kind: NameKind, name: string): Promise<Named> {
  const isPossible = !name.startsWith("-") && !/[\0\n\r]|@\{/.test(name);
  const [found] = isPossible ? await repository.lookUp([`refs/${kind}/${name}`]) : [];
  if (found !== undefined) return found;
  const names = await repository.refs(
    ["--format=%(refname:lstrip=2)", `refs/${kind}/`],
    "list the refs",
  );
  throw badRevision(name, nearest(name, linesOf(names)), KINDS[kind]);
}

const ID_DIGITS = 10;

/** A branch that is named like the digits of an id makes them ambiguous. */
function ifAmbiguous(error: unknown): [] {
  if (error instanceof ToolError && error.code === "ambiguous_name") return [];
  throw error;
}

/** How ids are shown: 10 digits, or all where these are ambiguous or also a name. */
export async function shortIds(
  repository: Repository,
  oids: readonly string[],
): Promise<(oid: string) => string> {
  const short = (oid: string) => oid.slice(0, ID_DIGITS);
  const all = [...new Set(oids)];
  const found = all.length === 0 ? [] : await repository.lookUp(all.map(short)).catch(ifAmbiguous);
  const unique = new Set(all.filter((oid, index) => found[index]?.oid === oid));
  return (oid) => (unique.has(oid) ? short(oid) : oid);
}

/**
 * Reads a range, `a..b` or `a...b`, where an empty side is HEAD; undefined for a single revision. `..` inside braces
 * (`HEAD@{a..b}`) is not a range. `symmetric`: `from` means the merge base of both (three dots).
 */
export function parseRange(
  text: string,
): { from: string; to: string; symmetric: boolean } | undefined {
  const [, from, dots, to] =
    /^((?:[^.{]|\.(?!\.)|\{[^}]*\})*)(\.\.\.?)(?!\.)(.*)$/s.exec(text) ?? [];
  if (from === undefined || dots === undefined || to === undefined) return undefined;
  return { from: from || "HEAD", to: to || "HEAD", symmetric: dots === "..." };
}

/** @throws ToolError `no_commits` for HEAD of an unborn branch, `bad_revision` with near names otherwise */
async function explainMissing(repository: Repository, revision: string): Promise<never> {
  const refs = await repository.refs(
    ["--format=%(refname:lstrip=2)", "--count=2000"],
    "list the refs",
  );
  if (/^(HEAD|@)$/.test(revision) && (await repository.head()) === undefined) throw noCommits();
  const [existing] = await repository.lookUp([revision]);
  if (existing !== undefined) {
    throw new ToolError("invalid", `"${revision}" is a ${existing.type}, not a commit.`, {
      code: "bad_revision",
      hint: "git_show shows trees and blobs; pass a branch, tag or commit here.",
    });
  }
  throw badRevision(revision, nearest(revision, linesOf(refs)));
}

/** What a target compares: the working tree with one commit, or the two ends of a range, as object ids. */
export async function comparedTrees(repository: Repository, target: string): Promise<string[]> {
  const range = parseRange(target);
  if (range === undefined) {
    const [, commit] = await together([repository.worktree(), commitOf(repository, target)]);
    return [commit];
  }
  const [from = "", to = ""] = await commitsOf(repository, [range.from, range.to]);
  if (!range.symmetric) return [from, to];
  const base = await repository.run(["merge-base", from, to]);
  const oid = base.stdout.toString("utf8").trim();
  if (oid !== "") return [oid, to];
  throw failure("no_merge_base", `${range.from} and ${range.to} have no common commit.`);
}

/** Where git searches for a short name, in this order (gitrevisions(7)). Without a warning that is read, the first wins. */
const SEARCHED = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Names that are never looked up anywhere else, or where that changes nothing: git's own and full ones. */
const EXACT = /^(HEAD|@|[A-Z_]+_HEAD|refs\/.*)$/s;

/**
 * Refuses a name of two things, such as a branch and a tag: git would choose the tag, whatever is meant.
 *
 * @param stderr git's warnings about the names
 * @param look looks up names without a search
 * @throws ToolError `ambiguous_name`
 */
export async function refuseAmbiguous(
  stderr: string,
  look: (names: readonly string[]) => Promise<readonly (Named | undefined)[]>,
): Promise<void> {
  for (const [, name = ""] of stderr.matchAll(/^warning: refname '(.*)' is ambiguous\.$/gm)) {
    if (EXACT.test(name)) continue;
    const full = [...SEARCHED.map((prefix) => prefix + name), `refs/remotes/${name}/HEAD`];
    const [chosen, ...found] = await look([name, ...full].map((one) => `${one}^{}`));
    const refs = full.flatMap((ref, index) => {
      const oid = found[index]?.oid;
      return oid === undefined ? [] : [{ ref, oid }];
    });
    const isInRefs = refs.some(({ oid }) => oid === chosen?.oid);
    const isAlsoId = refs.length === 1 && isInRefs && /^[0-9a-f]{4,64}$/.test(name);
    if (isInRefs && !isAlsoId && refs.every(({ oid }) => oid === chosen?.oid)) continue;
    const meanings = [
      ...refs.map(({ ref, oid }) => `${oneLine(ref)} (${oid.slice(0, 10)})`),
      ...(isAlsoId ? ["an object whose id begins with it"] : []),
      ...(isInRefs
        ? []
        : [`a file in the git directory (${chosen?.oid.slice(0, 10) ?? "not an object"})`]),
    ];
    const example = refs.find(({ ref }) => ref.startsWith("refs/heads/"))?.ref ?? refs[0]?.ref;
    throw failure("ambiguous_name", `"${oneLine(name)}" is ambiguous: ${meanings.join(" or ")}.`, {
      hint: `Pass a full name, such as ${oneLine(example ?? `refs/heads/${name}`)}, or a full commit id.`,
    });
  }
}

import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { badRevision, failure, failureOf, noCommits } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import type { Repository } from "./repository.ts";

const MAX_REVISION_CHARS = 1_000;
/** A name that cannot be a range, nor the parents of a commit. */
export const ONE_COMMIT = /^(?!.*\.\.)[\w./~-]+$/;

/** An object that a name refers to. */
interface Named {
  readonly oid: string;
  readonly type: string;
}

/**
 * After a reflog entry: what git may read as a time if it ends in a brace, such as `main@{1}^{tag}` or `main@{1}:{x}`.
 * Any text is a time.
 */
const MISREAD = /@\{[^}]*\}(?!\^\{(?:commit|tree|)\}$)(?:(?!@\{|\.\.).)*\}/;

/**
 * Refuses text that is never a revision, before git sees it. No ref begins with a dash, so none can
 * be an option (CVE-2025-68144).
 */
export function checked(revision: string): string {
  const isPossible = !/^-|[\0\n\r]/.test(revision) && !MISREAD.test(revision);
  if (isPossible && revision !== "" && revision.length <= MAX_REVISION_CHARS) return revision;
  throw badRevision(revision);
}

/**
 * Looks names up in one process. They are passed on stdin.
 *
 * @returns in order; undefined for an unknown name
 * @throws ToolError `ambiguous_name` if one is a branch and a tag
 */
export async function lookUp(
  repository: Repository,
  names: readonly string[],
): Promise<(Named | undefined)[]> {
  // No name has a line break; nothing is found for an empty one.
  const input = names.map((name) => (/[\0\n\r]/.test(name) ? "\n" : `${name}\n`)).join("");
  const result = await repository.run(["cat-file", "--batch-check"], { input });
  const { stderr } = result;
  // git exits where a name goes beyond the end of a reflog; the names after it are then unknown.
  if (result.code !== 0 && !/^fatal: log for .* only (has|goes)/m.test(stderr))
    throw failureOf(result, "look up a revision");
  refuseAmbiguous(stderr);
  const lines = result.stdout.toString("utf8").split("\n");
  return names.map((_, index): Named | undefined => {
    const [, oid, type] = /^([0-9a-f]{40,64}) (\w+) \d+$/.exec(lines[index] ?? "") ?? [];
    return oid === undefined || type === undefined ? undefined : { oid, type };
  });
}

/** The commit of HEAD; undefined on an unborn branch. */
export async function headOf(repository: Repository): Promise<string | undefined> {
  return (await lookUp(repository, ["HEAD^{commit}"]))[0]?.oid;
}

/** The object that a revision names: a commit, tag, tree or blob. */
export async function objectOf(repository: Repository, revision: string): Promise<Named> {
  const [object] = await lookUp(repository, [checked(revision)]);
  return object ?? explainMissing(repository, revision);
}

/** The commits that revisions name, in order. */
export async function commitsOf(
  repository: Repository,
  revisions: readonly string[],
): Promise<string[]> {
  // With ^{commit}, git would read `main@{1}:file` and `main@{1}~99` as times; `:/text` searches for all that follows.
  const names = revisions.map((revision) => checked(revision).replace(/^(?!:\/).+/, "$&^0"));
  const commits = await lookUp(repository, names);
  const unknownName = revisions.find((_, index) => commits[index]?.type !== "commit");
  if (unknownName !== undefined) return explainMissing(repository, unknownName);
  return commits.map((commit) => commit?.oid ?? "");
}

export async function commitOf(repository: Repository, revision: string): Promise<string> {
  const [oid = ""] = await commitsOf(repository, [revision]);
  return oid;
}

/**
 * Checks a command that got revisions unchanged: it may have chosen one meaning of an ambiguous
 * name, or have failed because it does not know one.
 *
 * @throws ToolError `ambiguous_name`, `bad_revision`, `no_commits`
 */
export async function checkRevisions(
  repository: Repository,
  result: GitResult,
  revisions: readonly string[],
  doing: string,
): Promise<void> {
  refuseAmbiguous(result.stderr);
  if (result.code === 0 || result.cut) return;
  await commitsOf(repository, revisions);
  throw failureOf(result, doing);
}

/** What is below these folders of refs. */
export const KINDS = { heads: "branch", tags: "tag" } as const;
export type NameKind = keyof typeof KINDS;

/** A local branch or tag. @throws ToolError `bad_revision` */
export async function refOf(repository: Repository, kind: NameKind, name: string): Promise<Named> {
  const isPossible = !name.startsWith("-") && !/[\0\n\r]|@\{/.test(name);
  const [object] = isPossible ? await lookUp(repository, [`refs/${kind}/${name}`]) : [];
  if (object === undefined) throw badRevision(name, KINDS[kind]);
  return object;
}

/** How ids are shown in sentences. */
export const shortId = (oid: string): string => oid.slice(0, 10);

/** The empty tree, to compare a root commit with. git knows it even if the repository lacks it. */
export function emptyTree(oid: string): string {
  return oid.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/**
 * Reads a range, `a..b` or `a...b`, where an empty side is HEAD; undefined for a single revision.
 * `..` inside braces (`HEAD@{a..b}`) is not a range.
 */
export function parseRange(text: string): { from: string; to: string } | undefined {
  const [, from, dots, to] =
    /^((?:[^.{]|\.(?!\.)|\{[^}]*\})*)(\.\.\.?)(?!\.)(.*)$/s.exec(text) ?? [];
  if (from === undefined || dots === undefined || to === undefined) return undefined;
  return { from: from || "HEAD", to: to || "HEAD" };
}

/** The revisions in a revision or range, for `checkRevisions`. */
export function sidesOf(text: string): string[] {
  const range = parseRange(text);
  return range === undefined ? [text] : [range.from, range.to];
}

/** @throws ToolError `no_commits` for HEAD of an unborn branch, else `bad_revision` */
async function explainMissing(repository: Repository, revision: string): Promise<never> {
  if (/^(HEAD|@)$/.test(revision)) throw noCommits();
  const [existing] = await lookUp(repository, [revision]);
  if (existing !== undefined)
    throw new ToolError("invalid", `"${oneLine(revision)}" is a ${existing.type}, not a commit.`, {
      code: "bad_revision",
      hint: "git_show shows trees and blobs; pass a branch, tag or commit here.",
    });
  throw badRevision(revision);
}

/** Names that are never looked up anywhere else: git's own and full ones. */
const EXACT = /^(HEAD|@|[A-Z_]+_HEAD|refs\/.*)$/s;

/**
 * Refuses a name of several things, such as a branch and a tag: git would choose the tag even if a branch is
 * meant (gitrevisions(7)).
 *
 * @param stderr git's warnings about the names
 * @throws ToolError `ambiguous_name`
 */
export function refuseAmbiguous(stderr: string): void {
  for (const [, name = ""] of stderr.matchAll(/^warning: refname '(.*)' is ambiguous\.$/gm)) {
    if (EXACT.test(name)) continue;
    const printable = oneLine(name);
    const message = `"${printable}" is ambiguous: a branch, a tag, an id or another ref have this name.`;
    const hint = `Pass a full name, such as refs/heads/${printable} or refs/tags/${printable}.`;
    throw failure("ambiguous_name", message, { hint });
  }
}

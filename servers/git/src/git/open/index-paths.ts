import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { failureOf } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { pathText } from "../run/text.ts";
import { isSettled, stateOf } from "./configuration.ts";
import { isGitName } from "./git-directory.ts";
import type { Machine } from "./machine.ts";

const MAX_INDEXES = 200;
/** The paths of submodules in `git ls-files --stage -z`. */
const SUBMODULES = /(?:^|\0)160000 [^\t]*\t([^\0]*)/g;
/** Paths that git never adds to an index, but would follow out of the working tree. */
const LEADS_OUT =
  process.platform === "win32"
    ? /^[/\\]|^[a-z]:|(^|[/\\])\.\.? *([/\\]|$)/i
    : /^\/|(^|[/\\])\.\.?([/\\]|$)/;
/**
 * Where such a path, or one that may name the git directory, can be in the list: a large one is only
 * searched, not split.
 */
const SUSPICIOUS =
  /\t[/\\]|\t[a-z]:|[\t/\\](\.\.?[ /\\\0]|\.git[. :/\\\0]|git~)|[^\0-\x7f][^\0]*/gi;

/**
 * The submodules in an index, whose paths are checked if the file has changed: git reads and writes
 * the files that they name, and the index may have come with the repository.
 *
 * @param list runs `git ls-files --stage -z`
 * @throws ToolError `corrupt_index`
 */
export async function submodulesIn(
  { indexes }: Machine,
  file: string,
  list: () => Promise<GitResult>,
): Promise<readonly string[]> {
  const state = stateOf(file);
  const cached = indexes.get(file);
  if (cached?.state === state) return cached.submodules;
  const started = Date.now();
  const { code, stdout, stderr } = await list();
  // Only commands that use a damaged index report it.
  if (code !== 0 && !/index/.test(stderr)) throw failureOf({ code, stderr }, "read the index");
  const text = stdout.toString("latin1");
  for (const { index } of text.matchAll(SUSPICIOUS)) {
    const record = text.slice(text.lastIndexOf("\0", index) + 1).split("\0", 1)[0] ?? "";
    refuseOutside(Buffer.from(record.slice(record.indexOf("\t") + 1), "latin1"));
  }
  const paths = [...text.matchAll(SUBMODULES)].map(([, path = ""]) => Buffer.from(path, "latin1"));
  const submodules = paths.map((path) => path.toString("utf8"));
  if (indexes.size >= MAX_INDEXES) indexes.clear();
  if (isSettled(state, started)) indexes.set(file, { state, submodules });
  return submodules;
}

function refuseOutside(path: Buffer): void {
  const isGit = () => path.toString("utf8").split(/[/\\]/).some(isGitName);
  if (!LEADS_OUT.test(path.toString("latin1")) && !isGit()) return;
  const message = `The repository's index contains "${oneLine(pathText(path))}", which is not a path inside the working tree.`;
  const hint = "git never writes such an index. The user can delete .git/index and run git reset.";
  throw new ToolError("denied", message, { code: "corrupt_index", hint });
}

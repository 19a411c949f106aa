import { resolve } from "node:path";
import { clip, cursorsOf, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { realOf } from "../open/configuration.ts";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { commitOf, shortId } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";
import { fittingLines, textOf } from "../run/text.ts";
import type { DiffText } from "./diff.ts";
import { isShallow, SHALLOW } from "./status.ts";

interface BlameQuery {
  readonly path: string;
  readonly revision: string;
  readonly start_line: number;
  readonly end_line?: number | undefined;
  readonly cursor?: string | undefined;
}

const LINES_AT_ONCE = 400;
const position = z.object({ oid: z.string(), line: z.int().min(1) });

/** Who last changed each line of a file, as of a revision. The cursor keeps its original commit. */
export async function blame(
  repository: Repository,
  query: BlameQuery,
  { budget }: Budget,
): Promise<DiffText> {
  const [path = ""] = await pathsIn(repository, [query.path]);
  await refuseOutsideFile(repository);
  const bound = [repository.location.gitDir, path, query.start_line, query.end_line];
  const cursors = cursorsOf("git_blame", bound, position);
  const start = cursors.decode(query.cursor) ?? {
    oid: await commitOf(repository, query.revision),
    line: query.start_line,
  };
  const max = Math.max(start.line, query.end_line ?? Number.MAX_SAFE_INTEGER);
  const range = `-L${start.line},${Math.min(max, start.line + LINES_AT_ONCE)}`;
  const plain = ["--porcelain", "--no-textconv", "--encoding=UTF-8"];
  const args = ["blame", ...plain, range, start.oid, "--", path];
  const lines = parseBlame(await repository.output(args, "blame the file"), isShallow(repository));
  const pageLines = fittingLines(lines, budget - 800);
  const last = start.line + pageLines.length - 1;
  const isRest = pageLines.length < lines.length || (lines.length > LINES_AT_ONCE && last < max);
  const cursor = cursors.encode({ oid: start.oid, line: last + 1 });
  const rest = isRest ? `; continue with cursor "${cursor}"` : "";
  const note = isShallow(repository)
    ? `; ${SHALLOW.toLowerCase()}, so lines marked ^ may be older and by somebody else`
    : "";
  return {
    body: `Blame of ${oneLine(path)} at ${shortId(start.oid)}:\n${pageLines.join("\n")}`,
    facts: `(lines ${start.line} to ${last}${note}${rest})`,
  };
}

/** `blame.ignoreRevsFile` cannot be overridden (an empty value sorts before the others), so an outside file is refused. */
async function refuseOutsideFile(repository: Repository): Promise<void> {
  const { config, worktree = repository.location.gitDir } = await repository.prepared();
  const { guard } = repository.options;
  for (const { key, value } of config) {
    const isRead = key === "blame.ignorerevsfile" && value !== "";
    if (!isRead || guard.contains(realOf(resolve(worktree, value)))) continue;
    const message = `blame.ignoreRevsFile is "${oneLine(value)}", outside the allowed directories.`;
    const hint = "The user can move that file into the repository, or unset blame.ignoreRevsFile.";
    throw failure("outside_roots", message, { hint });
  }
}

/** Reads `git blame --porcelain` as lines: a commit's facts are only on its first one. */
function parseBlame(output: Buffer, isCut: boolean): string[] {
  let origin = { id: "", author: "", date: "", mark: "" };
  let number = "";
  const origins = new Map<string, typeof origin>();
  const lines: string[] = [];
  for (const line of textOf(output).split("\n")) {
    const { id, author, date, mark } = origin;
    const [, oid, final] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(line) ?? [];
    const [, key, value = ""] = /^(\S+) (.*)$/.exec(line) ?? [];
    const who = oneLine(clip(author, 24));
    if (line.startsWith("\t"))
      lines.push(`${mark}${id} ${date} ${who} ${number}) ${clip(line.slice(1), 2_000)}`);
    else if (oid !== undefined && final !== undefined) {
      number = final;
      origin = origins.get(oid) ?? { id: shortId(oid), author: "", date: "", mark: "" };
      origins.set(oid, origin);
    } else if (key === "author") origin.author = value;
    else if (key === "author-time")
      origin.date = new Date(Number(value) * 1000).toISOString().slice(0, 10);
    // git means the first commit of a complete history too.
    else if (line === "boundary" && isCut) origin.mark = "^";
  }
  return lines;
}

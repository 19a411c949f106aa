import { isUtf8 } from "node:buffer";
import { cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { commitsOf, parseRange } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";
import { counted, textOf } from "../run/text.ts";
import { DIFF_ARGS } from "./changed-files.ts";
import type { DiffText } from "./diff.ts";
import { linePager } from "./line-pager.ts";

interface MailQuery {
  readonly revision: string;
  readonly paths?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
}

const position = z.object({ line: z.int().min(0) });

/**
 * The commits of a range, or one, as mails that `git am` takes. They are exact: binary files included, whole context lines,
 * the true author. The pages, joined with a line break, are the mailbox.
 *
 * @throws ToolError `bad_range`, `merge_in_range`
 */
export async function mailbox(
  repository: Repository,
  query: MailQuery,
  budget: number,
): Promise<DiffText> {
  const range = parseRange(query.revision);
  if (range?.symmetric)
    throw failure("bad_range", "Mails need two dots: a..b has the commits of b that a lacks.", {
      hint: undefined,
    });
  const paths = await pathsIn(repository, query.paths ?? []);
  const oids = await commitsOf(repository, range ? [range.from, range.to] : [query.revision]);
  const where = range ? [oids[1], `^${oids[0]}`] : ["--max-count=1", "--no-walk", oids[0]];
  const list = ["rev-list", "--parents", ...where, "--", ...paths];
  const found = (await repository.lines(list, "list the commits")).map(
    (line) => line.split(" ").length > 2,
  );
  const merges = found.filter(Boolean).length;
  const count = found.length - merges;
  if (count === 0 && merges > 0)
    throw failure("merge_in_range", "A merge commit cannot be sent as a mail.", {
      hint: "Pass a range, a..b, whose other commits are sent; or git_diff shows the merge's changes.",
    });
  if (count === 0)
    throw failure("bad_range", "There are no commits in that range.", {
      hint: "a..b has the commits of b that a lacks.",
    });
  const cursors = cursorsOf(
    "git_show",
    [repository.location.gitDir, "mail", oids, paths],
    position,
  );
  const skip = cursors.decode(query.cursor)?.line ?? 0;
  const remaining = budget - 700;
  const pager = linePager({
    skip,
    maxLines: Number.MAX_SAFE_INTEGER,
    maxBytes: remaining,
    maxLineBytes: remaining,
  });
  const args = [
    ...[
      "log",
      "--pretty=mboxrd",
      "--patch",
      "--binary",
      "--full-index",
      "--root",
      "--encoding=UTF-8",
    ],
    ...[
      "--no-merges",
      "--reverse",
      "--topo-order",
      "--no-notes",
      "--no-mailmap",
      "--no-show-signature",
    ],
    ...["--no-decorate", "--no-graph", ...DIFF_ARGS, "--unified=3", "--inter-hunk-context=0"],
    ...["--diff-algorithm=default", ...where, "--", ...paths],
  ];
  await repository.output(args, "write the mails", {
    config: [
      ["format.subjectPrefix", "PATCH"],
      ["format.encodeEmailHeaders", "true"],
    ],
    maxBytes: Number.MAX_SAFE_INTEGER,
    onStdout: (chunk) => pager.take(chunk),
  });
  const { lines, more, cutLines } = pager.page();
  const others = lines.filter((line) => !isUtf8(line)).length;
  const facts = [
    counted(count, "mail"),
    merges > 0 && `${counted(merges, "merge")} left out`,
    others > 0 &&
      `${counted(others, "line")} not in UTF-8: the patch does not apply from this text`,
    cutLines > 0 &&
      `${counted(cutLines, "very long line")} cut: the patch does not apply from this text`,
    more &&
      `continue with cursor "${cursors.encode({ line: skip + lines.length })}", and join the pages with a line break`,
  ];
  return { body: lines.map(textOf).join("\n"), facts: `(${facts.filter(Boolean).join("; ")})` };
}

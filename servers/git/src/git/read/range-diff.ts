import { cursorsOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, Repository } from "../open/repository.ts";
import { comparedTrees, parseRange } from "../open/revisions.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, textOf } from "../run/text.ts";
import type { DiffFormat, DiffText } from "./diff.ts";
import { linePager } from "./line-pager.ts";

interface RangeDiffQuery {
  readonly target: string;
  readonly against: string;
  readonly format?: DiffFormat;
  readonly paths?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
}

/**
 * Compares two ranges commit by commit: which commits are the same, changed, new or missing in the second one.
 *
 * @throws ToolError `bad_range` if one of them is not a range
 */
export async function rangeDiff(
  repository: Repository,
  query: RangeDiffQuery,
  { budget }: Budget,
): Promise<DiffText> {
  for (const range of [query.target, query.against]) {
    if (parseRange(range) !== undefined) continue;
    const hint = "Pass two ranges, such as target main..topic@{1} and against main..topic.";
    throw failure("bad_range", "With against, target and against are ranges a..b.", { hint });
  }
  if ((query.paths ?? []).length > 0) {
    const hint = "Omit paths, or compare the last commits of both ranges without against.";
    throw failure("bad_range", "A comparison of two ranges is of whole commits.", { hint });
  }
  const before = await comparedTrees(repository, query.target);
  const after = await comparedTrees(repository, query.against);
  if (before[0] === before[1] || after[0] === after[1])
    throw failure("bad_range", "One of the ranges is empty.", {
      hint: "git_log with the range shows its commits.",
    });
  const patch = (query.format ?? "patch") === "patch";
  const cursors = cursorsOf("git_diff", [before, after, patch], z.object({ line: z.int().min(0) }));
  const skip = cursors.decode(query.cursor)?.line ?? 0;
  const { lines, more } = await compareRanges(repository, before, after, {
    skip,
    budget: budget - 700,
    patch,
  });
  const next = skip + lines.length;
  const facts = [
    `${counted(lines.length, "line")}; = same, ! changed, < only in target, > only in against`,
    more && `continue with cursor "${cursors.encode({ line: next })}"`,
  ];
  return { body: lines.join("\n"), facts: `(${facts.filter(Boolean).join("; ")})` };
}

/** A page of `git range-diff` of two ranges, `[base, tip]` each. */
export async function compareRanges(
  repository: Repository,
  before: readonly string[],
  after: readonly string[],
  { skip, budget, patch }: { skip: number; budget: number; patch: boolean },
): Promise<{ lines: string[]; more: boolean }> {
  const pager = linePager({ skip, maxLines: 100_000, maxBytes: budget, maxLineBytes: 2_000 });
  const { overrides } = await repository.prepared();
  // It starts a git log without --no-textconv, which fails for an empty program; this one shows the file unchanged.
  const drivers = overrides.filter(([key]) => /^diff\..*\.textconv$/s.test(key));
  const plain = ["--no-color", "--no-notes", "--no-ext-diff", "--no-textconv"];
  const result = await repository.run(
    ["range-diff", ...plain, patch ? "--patch" : "--no-patch", before.join(".."), after.join("..")],
    {
      config: [["diff.submodule", "short"], ...drivers.map(([key]) => [key, "cat"] as const)],
      onStdout: (chunk) => pager.take(chunk),
      maxBytes: Number.MAX_SAFE_INTEGER,
    },
  );
  if (result.code !== 0 && !result.cut) throw failureOf(result, "compare the ranges");
  const { lines, more } = pager.page();
  return { lines: lines.map(textOf), more };
}

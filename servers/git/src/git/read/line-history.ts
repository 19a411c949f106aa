import { randomUUID } from "node:crypto";
import { clip, manyLines, oneLine, type ToolError } from "@refmcp/boundary/answer";
import type { Arguments } from "../open/machine.ts";
import type { Repository } from "../open/repository.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, textOf } from "../run/text.ts";
import { type Commit, commitOfFields, LOG_FIELDS, LOG_FORMAT, LOG_PLAIN } from "./commits.ts";

interface LineRange {
  readonly path: string | undefined;
  /** `10`, `10,40` or the name of a function. */
  readonly lines: string;
  /** Where the history begins, and `^` with what it leaves out. */
  readonly tips: readonly string[];
}

const MAX_DIFF = 2_000;

/**
 * The commits that changed lines of a file or a function, each with its diff of them (`git log -L`), through renames.
 *
 * @param args limits and filters for `git log`
 * @throws ToolError `bad_range` if the lines or the function do not exist, `bad_path`
 */
export async function lineHistory(
  repository: Repository,
  range: LineRange,
  args: Arguments,
  maxDiff = MAX_DIFF,
): Promise<Commit[]> {
  const { path, lines, tips } = range;
  if (path === undefined)
    throw failure("bad_range", "lines needs path, the file that has them.", {
      hint: "Pass path too.",
    });
  if (tips.filter((tip) => !tip.startsWith("^")).length > 1) {
    const hint = "Pass one commit, or a range with two dots: a..b.";
    throw failure("bad_range", "The history of lines cannot begin at two commits.", { hint });
  }
  // Nothing in a repository can contain it, so it separates the commits.
  const mark = `${randomUUID()}\n`;
  const format = LOG_FORMAT.replace("=", `=${mark.trim()}%n`);
  const how = ["--patch", "--no-abbrev", "--src-prefix=a/", "--dst-prefix=b/"];
  const result = await repository.run([
    ...[
      "log",
      ...LOG_PLAIN,
      ...how,
      `${format}%x00`,
      ...args,
      `-L${rangeArg(lines)}:${path}`,
      ...tips,
      "--",
    ],
  ]);
  if (result.code !== 0) throw explain(result, range);
  const parts = textOf(result.stdout).split(mark).slice(1);
  return parts.map((part) => {
    const fields = part.split("\0");
    const patch = fields.slice(LOG_FIELDS).join("\0");
    return { ...commitOfFields(fields), diff: clip(shortDiff(patch), maxDiff) };
  });
}

/** The range in git's form. Of a function's name, every character is literal. */
function rangeArg(lines: string): string {
  const name = lines.trim();
  const [, start, end = start] = /^(\d{1,9})(?:\s*[,-]\s*(\d{1,9}))?$/.exec(name) ?? [];
  const isRange = Number(start) >= 1 && Number(end) >= Number(start);
  if (isRange) return `${start},${end}`;
  if (start !== undefined || name === "" || name.length > 200 || /\p{Cc}/u.test(name)) {
    const message = `lines "${oneLine(clip(lines, 100))}" is neither a range of lines nor a function's name.`;
    throw failure("bad_range", message, {
      hint: "Pass a range such as 10,40, or a name such as parseLog.",
    });
  }
  // A basic expression: a backslash before other characters could make them operators. The colon would end it.
  const literal = name.replace(/[.[*^$\\:]/g, "\\$&");
  const isWord = (character = "") => /\w/.test(character);
  const before = isWord(name[0]) ? "^\\(.*[^A-Za-z0-9_]\\)\\{0,1\\}" : "";
  const after = isWord(name.at(-1)) ? "\\([^A-Za-z0-9_].*\\)\\{0,1\\}$" : "";
  return `:${before}${literal}${after}`;
}

/** A patch's hunks with one line around each change: of a function, git shows every line. */
function shortDiff(patch: string): string {
  const all = patch.split("\n");
  const body = all
    .slice(all.findIndex((line) => line.startsWith("@@")))
    .filter((line) => line !== "");
  const isChange = (line = "") => /^[-+@\\]/.test(line);
  const shown = body.flatMap((line, index) => {
    if ([line, body[index - 1], body[index + 1]].some((one) => isChange(one))) return [line];
    return isChange(body[index - 2]) ? [" …"] : [];
  });
  return manyLines(shown.join("\n"));
}

function explain(
  result: Parameters<typeof failureOf>[0],
  { path = "", lines }: LineRange,
): ToolError {
  const { stderr: cause } = result;
  const file = `"${oneLine(path)}"`;
  const [, count] = /has only (\d+) lines?/.exec(cause) ?? [];
  if (count !== undefined)
    return failure(
      "bad_range",
      `${file} has ${counted(Number(count), "line")}, no ${oneLine(lines)}.`,
      {
        cause,
      },
    );
  if (/There is no path/.test(cause))
    return failure("bad_path", `There is no file ${file} there.`, { cause });
  if (!/no match/.test(cause)) return failureOf(result, "read the history of the lines");
  const hint =
    "git finds functions by lines that begin with their definition; for others, find the lines with git_grep and pass 10,40.";
  return failure("bad_range", `${file} has no function "${oneLine(lines)}".`, { hint, cause });
}

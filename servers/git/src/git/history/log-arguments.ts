import { clip, manyLines, oneLine, type ToolError } from "@refmcp/boundary/answer";
import type { Repository } from "../open/repository.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted } from "../run/text.ts";

const MAX_DIFF = 2_000;

/** Lines of a file in git's form (`git log -L`). Every character of a function's name is literal. */
export function rangeArg(lines: string, path: string): string {
  const name = lines.trim();
  const [, start, end = start] = /^(\d{1,9})(?:\s*[,-]\s*(\d{1,9}))?$/.exec(name) ?? [];
  if (Number(start) >= 1 && Number(end) >= Number(start)) return `-L${start},${end}:${path}`;
  if (/^[1-9]\d{0,8},$/.test(name)) return `-L${name}:${path}`;
  if (start !== undefined || name === "" || name.length > 200 || /\p{Cc}/u.test(name)) {
    const shown = oneLine(clip(lines, 100));
    const message = `lines "${shown}" is neither a range of lines nor a function's name.`;
    const hint = "Pass a range such as 10,40, or a name such as parseLog.";
    throw failure("bad_range", message, { hint });
  }
  // A basic expression: a backslash before other characters could make them operators.
  const literal = name.replace(/[.[*^$\\:]/g, "\\$&");
  const isWord = (character = "") => /\w/.test(character);
  const before = isWord(name[0]) ? "^\\(.*[^A-Za-z0-9_]\\)\\{0,1\\}" : "";
  const after = isWord(name.at(-1)) ? "\\([^A-Za-z0-9_].*\\)\\{0,1\\}$" : "";
  return `-L:${before}${literal}${after}:${path}`;
}

/** A patch's hunks with one line around each change: of a function, git shows every line. */
export function shortDiff(patch: string): string {
  const all = patch.split("\n");
  const body = all
    .slice(all.findIndex((line) => line.startsWith("@@")))
    .filter((line) => line !== "");
  const isChange = (line = "") => /^[-+@\\]/.test(line);
  const shown = body.flatMap((line, index) => {
    if ([line, body[index - 1], body[index + 1]].some((near) => isChange(near))) return [line];
    return isChange(body[index - 2]) ? [" …"] : [];
  });
  return clip(manyLines(shown.join("\n")), MAX_DIFF);
}

/** Why git found no history of lines. */
export function linesFailure(
  result: Parameters<typeof failureOf>[0],
  lines: string,
  path: string,
): ToolError {
  const { stderr: cause } = result;
  const file = `"${oneLine(path)}"`;
  const [, count] = /has only (\d+) lines?/.exec(cause) ?? [];
  if (count !== undefined) {
    const message = `${file} has ${counted(Number(count), "line")}, no ${oneLine(lines)}.`;
    return failure("bad_range", message, { cause });
  }
  if (/There is no path/.test(cause))
    return failure("bad_path", `There is no file ${file} there.`, { cause });
  if (!/no match/.test(cause)) return failureOf(result, "read the history of the lines");
  const hint =
    "git finds functions by lines that begin with their definition; for others, find the lines with git_grep and pass 10,40.";
  return failure("bad_range", `${file} has no function "${oneLine(lines)}".`, { hint, cause });
}

/**
 * The words in git's date formats. git ignores all others, so that "5 bananas" would be the 5th.
 */
const WORDS = new Set(
  `second seconds minute minutes hour hours day days week weeks month months year years ago now today
  yesterday noon midnight tea last never am pm z t utc gmt at on the st nd rd th one two three four
  five six seven eight nine ten`.split(/\s+/),
);
const NAMES =
  /^((jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,4}t)$/;
const NOW = /\b(now|today|seconds?|minutes?|tea|noon|midnight)\b/i;

/**
 * git accepts any text as a date and reads nonsense as "now", which would silently give a wrong list.
 * So git is asked how it reads the text, and a result of "now" is refused unless the text says so.
 *
 * @returns an argument for `git log`
 * @throws ToolError `bad_date`
 */
export async function dateArg(
  repository: Repository,
  name: "since" | "until",
  text: string | undefined,
): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const isKnown = words.every((word) => WORDS.has(word) || NAMES.test(word));
  const isText = text !== "" && text.length <= 100 && !/[\0\n\r]/.test(text) && isKnown;
  // git reads a day without a time as the current time on that day; here it means the whole day.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const moment = isDay ? `${text}T${name === "since" ? "00:00:00" : "23:59:59"}` : text;
  const before = Math.floor(Date.now() / 1000);
  const parsed = isText ? await repository.run(["rev-parse", `--${name}=${moment}`]) : undefined;
  const seconds = Number(/=(\d+)/.exec(parsed?.stdout.toString("utf8") ?? "")?.[1] ?? Number.NaN);
  const isNow = seconds >= before && seconds <= Date.now() / 1000;
  if (Number.isNaN(seconds) || (isNow && !NOW.test(text) && !/\d/.test(text)))
    throw failure("bad_date", `${JSON.stringify(text.slice(0, 100))} is not a valid date.`);
  return name === "since" ? `--max-age=${seconds}` : `--min-age=${seconds}`;
}

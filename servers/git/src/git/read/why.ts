import { clip, oneLine } from "@refmcp/boundary/answer";
import type { Repository } from "../open/repository.ts";
import { counted, firstNames } from "../run/text.ts";
import { type Commit, indented, LOG_ARGS, LOG_FORMAT, parseLog } from "./commits.ts";
import type { DiffText } from "./diff.ts";
import { lineHistory } from "./line-history.ts";
import { shownIn } from "./log.ts";

/** A line of a file and the commit that it comes from. */
interface BlamedLine {
  readonly number: number;
  readonly commit: string;
  readonly text: string;
}

/** Characters of an answer, about 800 tokens. */
const MAX_CHARS = 2_250;
const MAX_MESSAGE = 800;
const MAX_EXPLAINED = 3;
/** Of the lines, with those of the explained commits. */
const MAX_CHANGES = 9;
const MAX_DIFF = 500;
const MAX_FILES = 3;
const MAX_LINES = 3;
/** Issues, pull requests and links, also of other trackers; not names such as UTF-8. */
const REFERENCES =
  /(?:[\w.-]+\/[\w.-]+)?#\d+\b|\b(?!UTF-|SHA-|ISO-)[A-Z][A-Z0-9]+-\d+\b|https?:\/\/[^\s<>")]+/g;

/**
 * The reason for lines: the commits that they come from, newest first, each with its message, its files and how it changed
 * the lines, and the commits before those.
 *
 * @param oid the commit whose lines these are
 */
export async function why(
  repository: Repository,
  { path, oid, lines }: { path: string; oid: string; lines: readonly BlamedLine[] },
): Promise<DiffText> {
  const [first = 1, last = first] = [lines[0]?.number, lines.at(-1)?.number];
  const input = [...new Set(lines.map(({ commit }) => `${commit}\n`))].join("");
  const args = ["log", ...LOG_ARGS, LOG_FORMAT, "--no-walk", "--stdin", "--"];
  const commits = parseLog(await repository.output(args, "read the commits", { input }), 20_000);
  const explained = commits.slice(0, MAX_EXPLAINED);
  const range = { path, lines: `${first},${last}`, tips: [oid] };
  const history = await lineHistory(repository, range, [`--max-count=${MAX_CHANGES}`], MAX_DIFF);
  const shown = await shownIn(repository, "stat", explained);
  const earlier = history.filter(({ commit }) => !explained.some((one) => one.commit === commit));

  const reason = ({ commit, message }: Commit, index: number): string => {
    const body = message.split("\n").slice(1);
    const whole = body.filter((line) => !/^[\w-]+-by: /i.test(line)).join("\n");
    const text =
      whole.trim().length > MAX_MESSAGE ? `${clip(whole.trim(), MAX_MESSAGE)}…` : whole.trim();
    const mentioned = [...new Set(message.match(REFERENCES))].filter((one) => !text.includes(one));
    const { text: title = "", commit: facts } = shown[index] ?? {};
    const { files = [], file_count = files.length } = facts ?? {};
    const names = [...files.slice(0, MAX_FILES), file_count > MAX_FILES && `${file_count} in all`];
    const numbers = lines.filter((line) => line.commit === commit).map(({ number }) => number);
    return [
      `${title.split("\n", 1)[0]} (${numbers.length === 1 ? "line" : "lines"} ${rangesOf(numbers)})`,
      text && `    ${indented(text)}`,
      mentioned.length > 0 && `Mentions: ${firstNames(mentioned, 5)}`,
      files.length > 0 && `Files: ${names.filter(Boolean).join("; ")}`,
      history.find((one) => one.commit === commit)?.diff,
    ]
      .filter(Boolean)
      .join("\n");
  };
  const all = [
    ...lines.slice(0, MAX_LINES).map(({ number, text }) => `${number}) ${clip(text, 120)}`),
    ...explained.map(reason),
    ...(await shownIn(repository, "stat", earlier)).map(({ text }) => text),
  ].join("\n");
  const hint = `git_log with path and lines "${first},${last}" lists all changes, git_show a whole commit`;
  return {
    body: `Why ${oneLine(path)} has ${first === last ? `line ${first}` : `lines ${first} to ${last}`} at ${oid.slice(0, 10)}:\n${clip(all, MAX_CHARS)}`,
    facts: `(these lines are from ${counted(commits.length, "commit")}${all.length > MAX_CHARS ? "; cut" : ""}; ${hint})`,
  };
}

/** Numbers in order as ranges: `1-3, 7`. */
function rangesOf(numbers: readonly number[]): string {
  const starts = numbers.filter((number, index) => numbers[index - 1] !== number - 1);
  const ends = numbers.filter((number, index) => numbers[index + 1] !== number + 1);
  return starts
    .map((start, index) => (start === ends[index] ? start : `${start}-${ends[index]}`))
    .join(", ");
}

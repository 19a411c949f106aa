import { oneLine } from "@refmcp/core/answer";
import type { Repository } from "../open/repository.ts";
import { LOG_ARGS } from "../read/log.ts";
import { pathText, records } from "../run/text.ts";

/** Asks the user; rejects if they do not agree. */
export type Confirm = (question: string) => Promise<void>;

/** What a destructive command did, and how to undo it. */
export interface Destroyed {
  done: string;
  before?: string;
  after?: string;
  /** The ref that keeps what was lost. */
  recovery?: string;
  /** How to undo it, as a call of a tool. */
  undo: string;
  files?: string[];
  count?: number;
}

/** How many commits only `tip` has, and the subjects of a few. */
export async function commitsOnlyIn(
  repository: Repository,
  tip: string,
  others: readonly string[],
  exceptBranch?: string,
): Promise<{ count: number; shown: string }> {
  const rest =
    exceptBranch === undefined
      ? others.map((oid) => `^${oid}`)
      : ["--not", `--exclude=${exceptBranch}`, "--branches", "--remotes", "--tags"];
  const args = ["log", ...LOG_ARGS, "--format=%h %s", "--max-count=1001", tip, ...rest, "--"];
  const subjects = records(await repository.output(args, "list the commits")).map((line) =>
    oneLine(pathText(line)),
  );
  const shown = subjects
    .slice(0, 5)
    .map((subject) => `"${subject.slice(0, 60)}"`)
    .join(", ");
  return { count: subjects.length, shown: subjects.length > 5 ? `${shown} …` : shown };
}

/** The first file names for a question, or nothing. */
export function namesOf(files: readonly string[]): string {
  if (files.length === 0) return "";
  const names = files.slice(0, 10).map((file) => oneLine(file.slice(0, 100)));
  return `: ${names.join(", ")}${files.length > 10 ? ` and ${files.length - 10} more` : ""}`;
}

/** The first hundred files for a response, and the total. */
export function listOf(files: readonly string[]): { files: string[]; count: number } {
  return { files: files.slice(0, 100), count: files.length };
}

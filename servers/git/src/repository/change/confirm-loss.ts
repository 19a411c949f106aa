import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { LOG_ARGS } from "../read/log.ts";
import { pathText, records } from "../run/text.ts";

/** What a destructive command did, and how to undo it. */
export const destroyed = z.object({
  done: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
  /** The ref that keeps what was lost. */
  recovery: z.string().optional(),
  /** The call that undoes it. */
  undo: z.string(),
  files: z.array(z.string()).optional(),
  count: z.number().optional(),
  notes: z.array(z.string()).optional(),
});
export type Destroyed = z.infer<typeof destroyed>;

/**
 * How many commits only `tip` has, and a list of the first subjects that begins with a colon, or is empty.
 *
 * @param others commits to compare with
 * @param refs also all branches and tags, except this branch
 */
export async function commitsOnlyIn(
  repository: Repository,
  tip: string,
  others: readonly string[],
  refs?: { readonly except?: string },
): Promise<{ count: number; list: string }> {
  const except = refs?.except === undefined ? [] : [`--exclude=${refs.except}`];
  const rest = [
    ...others.map((oid) => `^${oid}`),
    ...(refs === undefined ? [] : ["--not", ...except, "--branches", "--remotes", "--tags"]),
  ];
  const args = ["log", ...LOG_ARGS, "--format=%h %s", "--max-count=1001", tip, ...rest, "--"];
  const subjects = records(await repository.output(args, "list the commits")).map((line) =>
    oneLine(pathText(line)),
  );
  const shown = subjects.slice(0, 5).map((subject) => `"${subject.slice(0, 60)}"`);
  const list = shown.length === 0 ? "" : `: ${shown.join(", ")}${subjects.length > 5 ? " …" : ""}`;
  return { count: subjects.length, list };
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

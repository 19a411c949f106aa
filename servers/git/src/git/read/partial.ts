import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import type { Repository } from "../open/repository.ts";
import { isTrue, lastValue } from "../run/config.ts";

export const SHALLOW = "The history is shallow: older commits are missing";

/** The commits of a shallow clone whose parents are missing; undefined if the history is complete. */
export async function shallowCommits({
  location,
}: Repository): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(join(location.commonDir, "shallow"), "utf8").catch(() => "");
  const oids = text.split("\n").filter(Boolean);
  return oids.length === 0 ? undefined : new Set(oids);
}

/** How many directories or patterns of a sparse checkout a note lists. */
const MAX_LISTED = 20;

/** A sentence about the files of a sparse checkout that are missing from the working tree; undefined if none are. */
export async function sparseNote(repository: Repository): Promise<string | undefined> {
  const { config } = await repository.prepared();
  if (!isTrue(lastValue(config, "core.sparsecheckout"))) return undefined;
  const all = await repository.lines(["sparse-checkout", "list"], "read the sparse checkout");
  const list = all.slice(0, MAX_LISTED).map((line) => oneLine(line.slice(0, 200)));
  if (all.length > list.length) list.push(`${all.length - list.length} more`);
  // Patterns of a cone are printed as directories, and their parents have their files but not their subdirectories.
  const included = all.some((line) => /^[!/*]/.test(line))
    ? `what matches ${list.join(" ")}`
    : [...list, "files directly in the root and in directories above these"].join(", ");
  return `The checkout is sparse: the working tree has only ${included}`;
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import { isTrue, lastValue } from "../run/config.ts";
import type { Repository } from "./repository.ts";

/** The commits of a shallow clone whose parents are missing; undefined if the history is complete. */
export async function shallowCommits(repository: Repository): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(join(repository.location.commonDir, "shallow"), "utf8").catch(() => "");
  const oids = text.split("\n").filter(Boolean);
  return oids.length === 0 ? undefined : new Set(oids);
}

export const SHALLOW = "The history is shallow: older commits are missing";

/** How many directories or patterns of a sparse checkout a note lists. */
const MAX_LISTED = 20;

/** A sentence about the files of a sparse checkout that are missing from the working tree; undefined if none are. */
export async function sparseNote(repository: Repository): Promise<string | undefined> {
  const { config } = await repository.prepared();
  if (!isTrue(lastValue(config, "core.sparsecheckout"))) return undefined;
  const found = await repository.lines(["sparse-checkout", "list"], "read the sparse checkout");
  const list = found.slice(0, MAX_LISTED).map((line) => oneLine(line.slice(0, 200)));
  if (found.length > list.length) list.push(`${found.length - list.length} more`);
  // Patterns of a cone are printed as directories, whose parents have their files but not their subdirectories.
  const isCone = !found.some((line) => /^[!/*]/.test(line));
  const included = isCone
    ? [...list, "files directly in the root and in directories above these"].join(", ")
    : `what matches ${list.join(" ")}`;
  return `The checkout is sparse: the working tree has only ${included}`;
}

import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted, lineCounts, receiptText } from "../wording.ts";
import type { Patched } from "./apply-patch.ts";
import type { Comparison } from "./compare.ts";
import type { ChangedFiles, Edited } from "./edit.ts";

/** How many files are listed individually if their diffs do not fit. */
const MAX_NAMED = 100;

type Changed = Pick<Patched, "path" | "added" | "removed" | "receipt">;

/**
 * The diff of an edit, then the server's own line in square brackets, which cannot be mistaken for a line of the diff.
 */
export function editAnswer(edited: Edited, dryRun: boolean): string {
  const { diff, hiddenHunks, replacements, hash } = edited;
  const places = counted(replacements, "place");
  const done = dryRun ? `Would replace ${places}; nothing was changed` : `Replaced ${places}`;
  const facts = [
    `${done} (${lineCounts(edited)}).`,
    ...hiddenFacts(hiddenHunks),
    `Hash ${hash}.`,
    ...receiptText(edited.receipt),
  ];
  return `${diff}[${facts.join(" ")}]`;
}

/** The diffs of many files as far as they fit, then one line for each of the other files. */
export function editManyAnswer(
  { files, stopped }: ChangedFiles<Edited>,
  { dryRun, maxChars }: { dryRun: boolean; maxChars: number },
): string {
  let remaining = maxChars;
  const parts = files.map((file) => {
    remaining -= file.diff.length;
    return remaining > 0 ? file.diff : undefined;
  });
  const left = files.filter((_, index) => parts[index] === undefined);
  const replaced = files.reduce((sum, { replacements }) => sum + replacements, 0);
  const done = dryRun ? "Would replace" : "Replaced";
  const end = dryRun ? "; nothing was changed" : "";
  const facts = [
    `${done} ${counted(replaced, "place")} in ${counted(files.length, "file")}${end}.`,
    ...stoppedFacts(stopped),
  ];
  return `${parts.join("")}${changedLines(dryRun ? left : files)}[${facts.join(" ")}]`;
}

/** A line for each file of a patch. */
export function patchAnswer({ files, stopped }: ChangedFiles<Patched>, dryRun: boolean): string {
  const facts = [
    dryRun
      ? `The patch applies to ${counted(files.length, "file")}; nothing was changed.`
      : `Changed ${counted(files.length, "file")}.`,
    ...stoppedFacts(stopped),
  ];
  return `${changedLines(files)}[${facts.join(" ")}]`;
}

export function compareAnswer(comparison: Comparison): string {
  const { diff, forms, hiddenHunks, from, to } = { diff: comparison.text, ...comparison };
  const facts = [
    diff === "" ? `${oneLine(from)} and ${oneLine(to)} have the same lines.` : `${lineCounts(comparison)}.`,
    ...hiddenFacts(hiddenHunks),
    ...(forms.length === 0 ? [] : [`They differ in ${forms.join(", ")}.`]),
  ];
  return `${diff}[${facts.join(" ")}]`;
}

const hiddenFacts = (hunks: number) =>
  hunks === 0 ? [] : [`${counted(hunks, "hunk is", "hunks are")} not shown.`];

function changedLines(files: readonly Changed[]): string {
  const lines = files.slice(0, MAX_NAMED).map((file) => {
    const undo = receiptText(file.receipt).join(" ");
    return `${oneLine(file.path)}: ${lineCounts(file)}.${undo === "" ? "" : ` ${undo}`}\n`;
  });
  const more = files.length - MAX_NAMED;
  return lines.join("") + (more > 0 ? `… and ${grouped(more)} more; list_changes names them.\n` : "");
}

function stoppedFacts(stopped: ChangedFiles<Changed>["stopped"]): string[] {
  if (stopped === undefined) return [];
  return [
    `Stopped at ${oneLine(stopped.path)}: ${oneLine(stopped.error.message)} The remaining files are unchanged.`,
  ];
}

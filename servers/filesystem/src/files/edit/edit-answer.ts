import { grouped, oneLine } from "@refmcp/boundary/answer";
import { receiptText } from "../journal/list-changes.ts";
import { counted } from "../messages.ts";
import type { Comparison } from "./compare.ts";
import { lineCounts } from "./diff.ts";
import type { Edited, EditedFiles } from "./edit.ts";

/** How many files are listed individually if their diffs do not fit. */
const MAX_NAMED = 100;

/** The server's own line, in square brackets, which cannot be mistaken for a line of a diff. */
const line = (...facts: readonly string[]) => `[${facts.join(" ")}]`;

export function editAnswer(edited: Edited, dryRun: boolean): string {
  const { diff, hiddenHunks, replacements, hash } = edited;
  const places = counted(replacements, "place");
  const done = dryRun ? `Would replace ${places}; nothing was changed` : `Replaced ${places}`;
  const counts = `${done} (${lineCounts(edited)}).`;
  return (
    diff +
    line(counts, ...hiddenFacts(hiddenHunks), `Hash ${hash}.`, ...receiptText(edited.receipt))
  );
}

/** The diffs of many files as far as they fit, then one line for each of the other files. */
export function editManyAnswer(
  { files, receipt }: EditedFiles,
  { dryRun, maxChars }: { dryRun: boolean; maxChars: number },
): string {
  let remaining = maxChars;
  const parts = files.map((file) => {
    remaining -= file.diff.length;
    return remaining > 0 ? file.diff : undefined;
  });
  const left = files.filter((_, index) => parts[index] === undefined);
  const replaced = files.reduce((sum, { replacements }) => sum + replacements, 0);
  const places = `${counted(replaced, "place")} in ${counted(files.length, "file")}`;
  const done = dryRun ? `Would replace ${places}; nothing was changed.` : `Replaced ${places}.`;
  return parts.join("") + changedLines(dryRun ? left : files) + line(done, ...receiptText(receipt));
}

export function compareAnswer(comparison: Comparison): string {
  const { text, forms, hiddenHunks, from, to } = comparison;
  const counts = `${lineCounts(comparison)}.`;
  const facts = text === "" ? `${oneLine(from)} and ${oneLine(to)} have the same lines.` : counts;
  const others = forms.length === 0 ? [] : [`They differ in ${forms.join(", ")}.`];
  return text + line(facts, ...hiddenFacts(hiddenHunks), ...others);
}

const hiddenFacts = (hunks: number) =>
  hunks === 0 ? [] : [`${counted(hunks, "hunk is", "hunks are")} not shown.`];

function changedLines(files: readonly Edited[]): string {
  const lines = files
    .slice(0, MAX_NAMED)
    .map((file) => `${oneLine(file.path)}: ${lineCounts(file)}.\n`);
  const more = files.length - MAX_NAMED;
  return lines.join("") + (more > 0 ? `… and ${grouped(more)} more.\n` : "");
}

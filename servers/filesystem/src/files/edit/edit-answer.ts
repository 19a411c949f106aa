import { grouped, oneLine } from "@refmcp/boundary/answer";
import { receiptText } from "../journal/list-changes.ts";
import { counted } from "../messages.ts";
import type { Patched } from "./apply-patch.ts";
import type { Comparison } from "./compare.ts";
import { lineCounts } from "./diff.ts";
import type { ChangedFiles, Edited } from "./edit.ts";

/** How many files are listed individually if their diffs do not fit. */
const MAX_NAMED = 100;

type Changed = Pick<Patched, "path" | "added" | "removed"> &
  Partial<Pick<Patched, "from" | "executable">>;

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
  { files, receipt }: ChangedFiles<Edited>,
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

export function patchAnswer({ files, receipt }: ChangedFiles<Patched>, dryRun: boolean): string {
  const count = counted(files.length, "file");
  const done = dryRun ? `The patch applies to ${count}; nothing was changed.` : `Changed ${count}.`;
  return changedLines(files) + line(done, ...receiptText(receipt));
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

function changedLines(files: readonly Changed[]): string {
  const lines = files.slice(0, MAX_NAMED).map((file) => {
    const { path, from, executable } = file;
    const name = from === undefined ? oneLine(path) : `${oneLine(from)} → ${oneLine(path)}`;
    const mode = executable === undefined ? "" : `, now ${executable ? "" : "not "}executable`;
    return `${name}: ${lineCounts(file)}${mode}.\n`;
  });
  const more = files.length - MAX_NAMED;
  return lines.join("") + (more > 0 ? `… and ${grouped(more)} more.\n` : "");
}

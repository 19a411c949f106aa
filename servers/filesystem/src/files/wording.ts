import { grouped, oneLine } from "@refmcp/boundary/answer";
import type { Receipt } from "./journal/recording.ts";

/** A number with its noun: `1 file`, `2,000 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** The sentences about the journal in an answer; none if nothing was changed. */
export function receiptText(receipt: Receipt | undefined): string[] {
  if (receipt === undefined) return [];
  const { changeId, final, note } = receipt;
  const undo =
    final !== undefined
      ? [`Cannot be undone: ${final}.`]
      : changeId === undefined
        ? []
        : [`Change ${changeId}.`];
  return [...undo, ...(note === undefined ? [] : [note])];
}

/** One line: what was done, then what the journal recorded. */
export function changeAnswer(done: string, receipt: Receipt | undefined): string {
  return [done, ...receiptText(receipt)].join(" ");
}

/** `1 line added, 2 removed` */
export function lineCounts({ added, removed }: { added: number; removed: number }): string {
  return `${counted(added, "line")} added, ${grouped(removed)} removed`;
}

/** A path for a message. */
export function named(path: string): string {
  return `"${oneLine(path)}"`;
}

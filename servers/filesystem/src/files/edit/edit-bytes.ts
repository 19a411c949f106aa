import { decode, encode, type TextForm } from "../read/text-encoding.ts";
import { type Diff, unifiedDiff } from "./diff.ts";
import { type Edit, type EditedText, type EditOptions, editText } from "./edit-text.ts";
import { unified } from "./line-endings.ts";

/** What to edit: plain data, so that a thread can do it. */
export interface EditWork extends EditOptions {
  /** For messages and the diff. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly form: TextForm;
  readonly edits: readonly Edit[];
  /** Maximum characters of the diff. */
  readonly maxChars: number;
}

export interface EditedBytes extends Omit<Diff, "text">, Omit<EditedText, "text" | "regions"> {
  /** Undefined if the edits change nothing. */
  readonly after: Uint8Array | undefined;
  /** Unified; empty if the edits change nothing. */
  readonly diff: string;
}

/** Replaces parts of a text; outside them no byte changes. @throws ToolError see `editText`. */
export function editBytes({ path, bytes, form, edits, maxChars, ...options }: EditWork): EditedBytes {
  const text = unified(decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), form), form.eol);
  const edited = editText(path, text.text, edits, options);
  const { text: diff, ...counts } = unifiedDiff(path, text.text, edited.text, edited.regions, maxChars);
  const isChanged = edited.regions.length > 0;
  const after = isChanged ? encode(text.restore(edited.text, edited.regions), form) : undefined;
  return { after, diff, ...counts, replacements: edited.replacements, missing: edited.missing };
}

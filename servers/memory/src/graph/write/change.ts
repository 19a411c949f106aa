import { digits, ToolError } from "@refmcp/boundary/answer";
import { quote } from "../read/names.ts";
import type { Store, Writer } from "../store/store.ts";
import { storable } from "../text.ts";
import type { ChangeFacts } from "../types.ts";

/**
 * Writes one change, or nothing if `work` throws.
 *
 * @returns what `work` returns, with the change's id if anything changed.
 */
export function change<Value extends object>(
  store: Store,
  facts: ChangeFacts,
  work: (writer: Writer) => Promise<Value>,
): Promise<Value & { change_id: number | undefined }> {
  return store.write(async (writer) => {
    writer.startChange(facts);
    const value = await work(writer);
    return { ...value, change_id: await writer.finish() };
  });
}

/** A list in an answer, which has no empty ones. */
export function unlessEmpty<Item>(list: Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** What each text is called, and its maximum length in UTF-16 units. */
const TEXTS = {
  name: ["An entity's name", 10_000],
  type: ["A type", 500],
  observation: ["An observation", 50_000],
} as const;
export type TextKind = keyof typeof TEXTS;

/** What is wrong with a text to store, as a clause; undefined if it is valid. */
export function textProblem(kind: TextKind, text: string): string | undefined {
  const [what, max] = TEXTS[kind];
  if (text.trim() === "") return `${what} must not be empty`;
  if (text.length <= max) return undefined;
  return `${what} can have at most ${digits(max)} characters; this one has ${digits(text.length)}`;
}

/**
 * Checks a text and returns it in its stored form.
 *
 * @param where the argument, for example `entities.0.name`.
 * @throws ToolError `invalid`.
 */
export function checkedText(kind: TextKind, text: string, where: string): string {
  const problem = textProblem(kind, text);
  if (problem === undefined) return storable(text);
  throw new ToolError("invalid", `${where}: ${problem}; got ${quote(text)}.`, {
    hint: "Nothing was changed. Correct it and repeat the entire call.",
  });
}

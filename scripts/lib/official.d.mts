export interface Answer {
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: object;
  /** The first words of an answer that was not recorded. */
  readonly opening?: string;
}
/** The servers whose answers are compared. */
export const COMPARED: readonly string[];
/** Starts a server and makes the calls. */
export function ask(
  name: string,
  bin: string,
): Promise<{ tools: readonly object[]; results: Readonly<Record<string, Answer>> }>;
/** How our answer to a call compares with the official one. */
export function compareAnswers(official: Answer, ours: Answer): { structured: string; text: string };

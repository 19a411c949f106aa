import { nearest } from "../answer/errors.ts";

/**
 * ` Did you mean --read-only?`, or "" where nothing is near. Names that begin with the word (up to three) are
 * nearer than a misspelling.
 *
 * @param prefix stands before each name in the sentence
 */
export function suggestion(word: string, candidates: readonly string[], prefix = ""): string {
  const longer = word.length > 2 ? candidates.filter((candidate) => candidate.startsWith(word)) : [];
  const near = longer.length > 0 && longer.length <= 3 ? longer : nearest(word, candidates, 1);
  if (near.length === 0) return "";
  const names = near.map((name) => prefix + name);
  const list = names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names.join("");
  return ` Did you mean ${list}?`;
}

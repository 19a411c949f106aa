/** How each bare quoted text was resolved, by its position in the sentence. */
export type Found = Map<object, "label" | "placeholder" | "button">;

/** A sentence with its bare quoted texts made explicit: `fill label 'Email' with 'a'` for `fill 'Email' with 'a'`. */
export function explicit(sentence: string, parsed: unknown, found: Found): string {
  return insertions(parsed, found)
    .sort(([a], [b]) => b - a)
    .reduce((text, [at, word]) => `${text.slice(0, at)}${word} ${text.slice(at)}`, sentence.trim());
}

function insertions(part: unknown, found: Found): [at: number, word: string][] {
  if (typeof part !== "object" || part === null) return [];
  const word = found.get(part);
  const own: [number, string][] = word === undefined ? [] : [[Number(Reflect.get(part, "at")), word]];
  return [...own, ...Object.values(part).flatMap((inner) => insertions(inner, found))];
}

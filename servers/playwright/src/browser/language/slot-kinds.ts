import { quoted, type Reading, remembered, type Sentence, type Slot } from "./reader.ts";

export const printed = (value: unknown) => String(value);
/** A number is here; if it is not valid, that is what a message should say. */
const isNumber = (sentence: Sentence, at: number) => /^[\d-]/.test(sentence.rest(at));

/** A slot that a pattern recognizes; `readValue` returns undefined for what is out of its limits. */
export const patterned = <Value>(
  expected: string,
  pattern: RegExp,
  readValue: (found: RegExpExecArray) => Value | undefined,
  print: (value: Value) => string = printed,
): Slot<Value> => ({
  read(sentence, at) {
    const taken = sentence.take(at, pattern);
    const value = taken === undefined ? undefined : readValue(taken.found);
    return taken === undefined || value === undefined
      ? sentence.fail(at, expected, { isSure: isNumber(sentence, at) })
      : [{ value, at: taken.at }];
  },
  print,
});

/** A slot with one of some phrases; several can have the same meaning. */
export const oneOf = <Value>(
  expected: string,
  phrases: Readonly<Record<string, Value>>,
  print: (value: Value) => string = printed,
): Slot<Value> => {
  const all = Object.entries(phrases).map(
    ([phrase, value]) =>
      [new RegExp(`${phrase.replaceAll(" ", "\\s+")}(?![\\w-])`, "iy"), value] as const,
  );
  const names = [...new Set(Object.values(phrases).map(print))];
  return {
    read(sentence, at) {
      for (const [pattern, value] of all) {
        const end = sentence.end(at, pattern);
        if (end !== undefined) return [{ value, at: end }];
      }
      if (expected !== "") return sentence.fail(at, expected);
      for (const name of names) sentence.fail(at, name);
      return [];
    },
    print,
  };
};
export const same = <Name extends string>(names: readonly Name[]): Readonly<Record<string, Name>> =>
  Object.fromEntries(names.map((name) => [name, name]));

/** A slot with a text, in quotes or a single word, that must pass a test. */
export const checked = (
  expected: string,
  isValid: (text: string) => boolean,
  print = quoted,
): Slot<string> => ({
  read(sentence, at) {
    const all = sentence.word(at, expected);
    const valid = all.filter(({ value }) => isValid(value));
    return valid.length > 0 || all.length === 0
      ? valid
      : sentence.fail(at, expected, { isSure: true });
  },
  print,
});

export function isKnown(test: () => unknown): boolean {
  try {
    test();
    return true;
  } catch {
    return false;
  }
}

/** Several values, with a comma or `and` between them. */
export function several<Value>(one: Slot<Value>): Slot<readonly Value[]> {
  const next = /(?:,\s*(?:and\s+)?|and\s+)/iy;
  const read = remembered((sentence, at): readonly Reading<readonly Value[]>[] =>
    one.read(sentence, at).flatMap((first) => {
      const more = sentence.end(first.at, next);
      const rest = more === undefined ? [] : read(sentence, more);
      return [
        { value: [first.value], at: first.at },
        ...rest.map(({ value, at: end }) => ({ value: [first.value, ...value], at: end })),
      ];
    }),
  );
  return { read, print: (all) => all.map((value) => one.print(value)).join(", ") };
}

export const textSlot: Slot<string> = {
  read: (sentence, at) => sentence.quoted(at),
  print: quoted,
  noun: "a text in quotes",
};

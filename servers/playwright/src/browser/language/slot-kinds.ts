import { best, quoted, type Reading, remembered, type Sentence, type Slot } from "./reader.ts";
import { vocabulary } from "./words.ts";

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
      : [{ value, at: taken.at, cost: 0 }];
  },
  print,
});

/** A slot with one of some words. */
export const oneOf = <Value>(
  expected: string,
  lists: Readonly<Record<string, Value>>,
  print: (value: Value) => string = printed,
): Slot<Value> => {
  const all = vocabulary(lists);
  const names = [...new Set(Object.values(lists).map(print))];
  return {
    read(sentence, at) {
      const found = all.flatMap(([pattern, value]) => {
        const end = sentence.end(at, pattern);
        return end === undefined ? [] : [{ value, at: end, cost: 0 }];
      });
      if (found.length === 0) {
        if (expected === "") for (const name of names) sentence.fail(at, name);
        else sentence.fail(at, expected);
      }
      return found;
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
    const all = sentence.words(at, expected, 1);
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

/** A slot that takes only some of another one's readings. */
export const only = <Value>(
  slot: Slot<Value>,
  fits: (value: Value, cost: number) => boolean,
): Slot<Value> => ({
  ...slot,
  read: (sentence, at) => slot.read(sentence, at).filter(({ value, cost }) => fits(value, cost)),
});

/** A slot that no word of the sentence is for. */
export const implied = <Value>(
  value: Value,
  print: (value: Value) => string = printed,
): Slot<Value> => ({
  read: (_, at) => [{ value, at, cost: 0 }],
  print,
});

/** Several values, with a comma or `and` between them. */
export function several<Value>(one: Slot<Value>): Slot<readonly Value[]> {
  const next = /(?:,\s*(?:and\s+)?|and\s+)/iy;
  const read = remembered((sentence, at): readonly Reading<readonly Value[]>[] => {
    const all = one.read(sentence, at).flatMap((first) => {
      const more = sentence.end(first.at, next);
      const alone = { ...first, value: [first.value] };
      const rest = more === undefined ? [] : read(sentence, more);
      return [
        alone,
        ...rest.map(({ value, at: end, cost }) => ({
          value: [first.value, ...value],
          at: end,
          cost: first.cost + cost,
        })),
      ];
    });
    return best(all);
  });
  return { read, print: (all) => all.map((value) => one.print(value)).join(", ") };
}

export const textSlot: Slot<string> = {
  read: (sentence, at) => sentence.words(at, "a text in quotes"),
  print: quoted,
  noun: "a text in quotes",
};

/** Character classes, `[a-z]`, `[!x]`, `[[:alpha:]]`, as defined by POSIX.1-2017 XCU 2.13.1 and gitignore(5). */

/** Whether a pattern's class or wildcard accepts a character (a code point). */
export type CharacterTest = (code: number) => boolean;

/** The ranges of each named class: pairs of the first and the last character. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  ascii: "\0\x7f",
  blank: "\t\t  ",
  cntrl: "\0\x1f\x7f\x7f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  word: "09AZ__az",
  xdigit: "09AFaf",
};

/** Where the class that opens at `start` closes; undefined if it does not, so `[` is an ordinary character. */
export function classEnd(glob: string, start: number): number | undefined {
  let at = start + 1;
  if (glob.charAt(at) === "!" || glob.charAt(at) === "^") at += 1;
  // A bracket in the first position is a member.
  if (glob.charAt(at) === "]") at += 1;
  while (at < glob.length) {
    const char = glob.charAt(at);
    if (char === "]") return at;
    const posix = posixAt(glob, at);
    if (posix !== undefined) at += posix.length + 4;
    else at += char === "\\" ? 2 : 1;
  }
  return undefined;
}

/**
 * The test for the body of a class, which never accepts `/`.
 *
 * @returns undefined if a range runs backwards, `[z-a]`.
 */
export function classTest(body: string): CharacterTest | undefined {
  const negated = body.startsWith("!") || body.startsWith("^");
  const ranges = rangesOf(negated ? body.slice(1) : body);
  if (ranges === undefined) return undefined;
  return (code) =>
    code !== SLASH && negated !== ranges.some(([first, last]) => first <= code && code <= last);
}

const SLASH = 0x2f;

type Range = readonly [first: number, last: number];

function rangesOf(body: string): Range[] | undefined {
  const ranges: Range[] = [];
  let at = 0;
  const character = (): number => {
    if (body.charAt(at) === "\\" && at + 1 < body.length) at += 1;
    const code = body.codePointAt(at) ?? 0;
    at += code > 0xffff ? 2 : 1;
    return code;
  };
  while (at < body.length) {
    const posix = posixAt(body, at);
    if (posix !== undefined) {
      const pairs = POSIX_CLASSES[posix] ?? "";
      for (let i = 0; i < pairs.length; i += 2) ranges.push([pairs.charCodeAt(i), pairs.charCodeAt(i + 1)]);
      at += posix.length + 4;
      continue;
    }
    const first = character();
    let last = first;
    if (body.charAt(at) === "-" && at + 1 < body.length) {
      at += 1;
      last = character();
    }
    if (last < first) return undefined;
    ranges.push([first, last]);
  }
  return ranges;
}

/** The name in a `[:name:]` at `at`. */
function posixAt(text: string, at: number): string | undefined {
  if (!text.startsWith("[:", at)) return undefined;
  const name = text.slice(at + 2, text.indexOf(":]", at + 2));
  return text.startsWith(":]", at + 2 + name.length) && Object.hasOwn(POSIX_CLASSES, name) ? name : undefined;
}

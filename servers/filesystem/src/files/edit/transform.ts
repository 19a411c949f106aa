/** How lines can be changed while they are written. */
export const TRANSFORMS = ["upper", "lower", "trim", "sort", "reverse", "unique"] as const;

export type Transform = (typeof TRANSFORMS)[number];

/** Those that need no other line, so the text can pass in pieces. */
const STREAMED: ReadonlySet<Transform> = new Set(["upper", "lower"]);

export function needsAllLines(transforms: readonly Transform[]): boolean {
  return transforms.some((one) => !STREAMED.has(one));
}

export interface TransformWork {
  readonly text: string;
  readonly transforms: readonly Transform[];
}

/**
 * Applies transforms in order. `trim` removes whitespace at the ends of lines, `sort` orders lines by code point, with
 * numbers in them by value, `unique` keeps the first of equal lines. A last line without a line ending stays one.
 */
export function transformText({ text, transforms }: TransformWork): string {
  let current = text;
  for (const one of transforms) {
    if (one === "upper") current = current.toUpperCase();
    else if (one === "lower") current = current.toLowerCase();
    else current = transformLines(current, one);
  }
  return current;
}

function transformLines(text: string, transform: Transform): string {
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(/\r?\n/);
  const isEnded = lines.at(-1) === "";
  if (isEnded) lines.pop();
  const changed =
    transform === "trim"
      ? lines.map((line) => line.trimEnd())
      : transform === "sort"
        ? lines.sort(compareNatural)
        : transform === "reverse"
          ? lines.reverse()
          : [...new Set(lines)];
  return changed.join(end) + (isEnded ? end : "");
}

const RUNS = /\d+|\D+/g;

/** `a2` before `a10`; otherwise by UTF-16 code units, which gives the same order in every locale. */
function compareNatural(a: string, b: string): number {
  if (!/\d/.test(a) || !/\d/.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [a.match(RUNS) ?? [], b.match(RUNS) ?? []];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one = "", other = ""] = [left[at], right[at]];
    const difference = /^\d/.test(one) && /^\d/.test(other) ? Number(one) - Number(other) : 0;
    if (difference !== 0) return difference;
    if (one !== other) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

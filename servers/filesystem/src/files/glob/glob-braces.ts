import { classEnd } from "./glob-class.ts";

/** Which braces of a glob form groups. Found in one pass, so that `{{{{…` costs no more than its length. */
export interface Braces {
  /** Where a group with alternatives opens. */
  readonly groups: ReadonlySet<number>;
  /** Closing braces that end no group: `{b}` in `{a,{b}}`. */
  readonly plain: ReadonlySet<number>;
}

export function findBraces(glob: string): Braces {
  const groups = new Set<number>();
  const plain = new Set<number>();
  const open: { at: number; kind: "{" | "("; commas: boolean }[] = [];
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    const top = open.at(-1);
    if (char === "\\") at += 1;
    else if (char === "[") at = classEnd(glob, at) ?? at;
    else if (char === "{") open.push({ at, kind: "{", commas: false });
    else if (char === "(" && isOperator(glob, at - 1)) open.push({ at, kind: "(", commas: false });
    else if (char === "," && top?.kind === "{") top.commas = true;
    else if (char === "}" && top?.kind === "{") {
      open.pop();
      if (top.commas) groups.add(top.at);
      else plain.add(at);
    } else if (char === ")") {
      // Braces that are still open inside the parentheses are ordinary characters.
      const opening = open.findLastIndex(({ kind }) => kind === "(");
      if (opening >= 0) open.length = opening;
    }
  }
  return { groups, plain };
}

/** Whether the character at `at` makes the parenthesis after it the group of an extended glob. */
function isOperator(glob: string, at: number): boolean {
  return at >= 0 && "?*+@!".includes(glob.charAt(at));
}

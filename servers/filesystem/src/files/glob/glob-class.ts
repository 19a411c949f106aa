/** Character classes, `[a-z]`, `[!x]`, `[[:alpha:]]`, as defined by POSIX.1-2017 XCU 2.13.1 and gitignore(5). */

const POSIX_CLASSES = new Set([
  "alnum",
  "alpha",
  "ascii",
  "blank",
  "cntrl",
  "digit",
  "graph",
  "lower",
  "print",
  "punct",
  "space",
  "upper",
  "word",
  "xdigit",
]);

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
 * Converts the body of a class to the source of a regular expression's class, which never matches `/`.
 *
 * @returns undefined if a range runs backwards, `[z-a]`.
 */
export function classSource(body: string): string | undefined {
  const negated = body.startsWith("!") || body.startsWith("^");
  const members = membersOf(negated ? body.slice(1) : body);
  if (members === undefined) return undefined;
  if (negated) return `[^/${members.join("")}]`;
  // The class contained only the slash.
  return members.length === 0 ? "[^\\x{0}-\\x{10ffff}]" : `[${members.join("")}]`;
}

function membersOf(body: string): string[] | undefined {
  const members: string[] = [];
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
      members.push(...posixMembers(posix));
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
    members.push(...withoutSlash(first, last));
  }
  return members;
}

/** The name in a `[:name:]` at `at`. */
function posixAt(text: string, at: number): string | undefined {
  if (!text.startsWith("[:", at)) return undefined;
  const name = text.slice(at + 2, text.indexOf(":]", at + 2));
  return text.startsWith(":]", at + 2 + name.length) && POSIX_CLASSES.has(name) ? name : undefined;
}

/** Some of them contain the slash. */
function posixMembers(name: string): string[] {
  if (name === "punct") return ["!-.", ":-@", "\\[-`", "{-~"];
  if (name === "graph") return ["!-.", "0-~"];
  if (name === "print") return [" -.", "0-~"];
  if (name === "ascii") return ["\\x{0}-.", "0-\\x{7f}"];
  return [`[:${name}:]`];
}

const SLASH = 0x2f;

function withoutSlash(first: number, last: number): string[] {
  if (first > SLASH || last < SLASH) return [range(first, last)];
  const below = first < SLASH ? [range(first, SLASH - 1)] : [];
  const above = last > SLASH ? [range(SLASH + 1, last)] : [];
  return [...below, ...above];
}

function range(first: number, last: number): string {
  const hex = (code: number) => `\\x{${code.toString(16)}}`;
  return first === last ? hex(first) : `${hex(first)}-${hex(last)}`;
}

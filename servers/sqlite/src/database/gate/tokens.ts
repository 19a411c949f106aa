export interface Token {
  /** `word`: a keyword or plain name; `name`: a quoted one; `other`: one character of punctuation. */
  readonly kind: "word" | "name" | "text" | "number" | "other";
  readonly text: string;
  /** How many parentheses enclose it. */
  readonly depth: number;
  /** Its position in the text. */
  readonly at: number;
}

/**
 * White space, as which SQLite also takes a byte order mark before a token, and comments, or one group for each kind of token.
 * An unclosed quote or comment extends to the end.
 */
const TOKEN = new RegExp(
  [
    "[ \\t\\n\\f\\r\\v\\ufeff]+|--[^\\n]*|/\\*[^]*?(?:\\*/|$)",
    "([A-Za-z_\\u0080-\\uffff][\\w$\\u0080-\\uffff]*)",
    '("[^"]*(?:""[^"]*)*(?:"|$)|`[^`]*(?:``[^`]*)*(?:`|$)|\\[[^\\]]*(?:\\]|$))',
    "('[^']*(?:''[^']*)*(?:'|$))",
    "(\\d[\\w.]*)",
    "([^])",
  ].join("|"),
  "g",
);

/** The tokens of SQLite SQL without comments. Supports both kinds of quotes, `[x]` and backticks. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(sql); match !== null; match = TOKEN.exec(sql)) {
    const [text, word, name, literal, number, other] = match;
    if (other === ")") depth -= 1;
    // Each group is undefined or has at least one character.
    const kind =
      (word && "word") ??
      (name && "name") ??
      (literal && "text") ??
      (number && "number") ??
      (other && "other");
    if (kind) tokens.push({ kind, text, depth, at: match.index });
    if (other === "(") depth += 1;
  }
  return tokens;
}

/** A name in lower case as in SQLite, for which Ä and ä are different names. */
export const folded = (name: string) => name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

export interface Statement {
  /** The first keyword in capitals; after WITH, the keyword of the main statement. Empty if there is none. */
  readonly verb: string;
  /** The very first keyword, in capitals. */
  readonly first: string;
  readonly tokens: readonly Token[];
  /** How many statements the text contains. */
  readonly count: number;
}

const VERBS: ReadonlySet<string> = new Set([
  "SELECT",
  "INSERT",
  "REPLACE",
  "UPDATE",
  "DELETE",
  "VALUES",
]);

/** Classifies SQLite SQL by its tokens. */
export function statementOf(sql: string): Statement {
  const tokens = tokenize(sql);
  const words = tokens.filter(({ kind }) => kind === "word");
  const first = tokens[0]?.kind === "word" ? tokens[0].text.toUpperCase() : "";
  const proper = words.find(({ text, depth }) => depth === 0 && VERBS.has(text.toUpperCase()));
  const verb = first === "WITH" ? (proper?.text.toUpperCase() ?? "WITH") : first;
  return { verb, first, tokens, count: countOf(tokens.map(({ text }) => text.toUpperCase())) };
}

/** Counts statements; semicolons inside a trigger end none, as in `sqlite3_complete`. */
function countOf(words: readonly string[]): number {
  let count = 0;
  let start = -1;
  for (const [at, word] of words.entries()) {
    if (word !== ";") {
      if (start < 0) {
        start = at;
        count += 1;
      }
    } else if (!isTrigger(words, start) || (words[at - 1] === "END" && words[at - 2] === ";"))
      start = -1;
  }
  return count;
}

function isTrigger(words: readonly string[], start: number): boolean {
  return /^CREATE (TEMP(ORARY)? )?TRIGGER /.test(words.slice(start, start + 4).join(" "));
}

/** The table that a statement drops, or drops a column of, as written; undefined for other statements. */
export function removedFrom({ verb, tokens }: Statement): string | undefined {
  const words = tokens.map(({ kind, text }) => (kind === "word" ? text.toUpperCase() : text));
  if (verb === "DROP" && words[1] === "TABLE") return nameAt(tokens, words[2] === "IF" ? 4 : 2);
  return verb === "ALTER" && words.includes("DROP") ? nameAt(tokens, 2) : undefined;
}

/** The table that an INSERT, REPLACE, UPDATE or DELETE names, as written; undefined for other statements. */
export function targetOf({ verb, tokens }: Pick<Statement, "verb" | "tokens">): string | undefined {
  const after = (keyword: string) =>
    tokens.findIndex(
      ({ kind, text, depth }) => kind === "word" && depth === 0 && text.toUpperCase() === keyword,
    ) + 1;
  let at = 0;
  if (verb === "INSERT" || verb === "REPLACE") at = after("INTO");
  else if (verb === "DELETE") at = after("DELETE") + 1;
  else if (verb === "UPDATE") {
    at = after("UPDATE");
    if (tokens[at]?.text.toUpperCase() === "OR") at += 2;
  }
  return at === 0 ? undefined : nameAt(tokens, at);
}

/** A name with its schema, as written. */
function nameAt(tokens: readonly Token[], start: number): string {
  let name = tokens[start]?.text ?? "";
  for (let at = start + 1; tokens[at]?.text === "."; at += 2)
    name += `.${tokens[at + 1]?.text ?? ""}`;
  return name;
}

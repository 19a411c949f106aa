export interface Token {
  /** `word`: a keyword or plain name; `name`: a quoted one; `other`: one character of punctuation. */
  readonly kind: "word" | "name" | "text" | "number" | "other";
  readonly text: string;
  /** How many parentheses enclose it. */
  readonly depth: number;
}

const SPACE = /[ \t\n\f\r\v]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /\d[\w.]*/y;

/**
 * The tokens of SQLite SQL without comments. Supports both kinds of quotes, `[x]` and backticks. An unclosed quote extends
 * to the end.
 */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let depth = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(sql);
  };
  const push = (kind: Token["kind"], text: string) => {
    tokens.push({ kind, text, depth });
    at += text.length;
  };
  while (at < sql.length) {
    const skipped = match(SPACE) ?? match(LINE_COMMENT);
    if (skipped !== null) {
      at += skipped[0].length;
      continue;
    }
    const character = sql.charAt(at);
    if (character === "/" && sql.charAt(at + 1) === "*") {
      const end = sql.indexOf("*/", at + 2);
      at = end < 0 ? sql.length : end + 2;
      continue;
    }
    if (character === "'") {
      push("text", quoted(sql, at, "'"));
      continue;
    }
    if (character === '"' || character === "`") {
      push("name", quoted(sql, at, character));
      continue;
    }
    if (character === "[") {
      const end = sql.indexOf("]", at);
      push("name", sql.slice(at, end < 0 ? sql.length : end + 1));
      continue;
    }
    const word = match(WORD);
    const number = word === null ? match(NUMBER) : null;
    if (word !== null) push("word", word[0]);
    else if (number !== null) push("number", number[0]);
    else {
      if (character === ")") depth -= 1;
      push("other", character);
      if (character === "(") depth += 1;
    }
  }
  return tokens;
}

/** The quoted text at `start`, including the quotes. */
function quoted(sql: string, start: number, quote: string): string {
  let end = sql.indexOf(quote, start + 1);
  while (end >= 0 && sql.charAt(end + 1) === quote) end = sql.indexOf(quote, end + 2);
  return end < 0 ? sql.slice(start) : sql.slice(start, end + 1);
}

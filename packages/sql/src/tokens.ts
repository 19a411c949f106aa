export type Dialect = "sqlite" | "postgres";

export interface Token {
  /** `word`: a keyword or plain name; `name`: a quoted one; `other`: one character of punctuation. */
  readonly kind: "word" | "name" | "text" | "number" | "other";
  readonly text: string;
  /** Parentheses around it. */
  readonly depth: number;
}

const SPACE = /[ \t\n\f\r\v]+/y;
const LINE_COMMENT = /--[^\n]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /\d[\w.]*/y;
const DOLLAR = /\$([A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;

/**
 * The tokens of an SQL text without comments. It knows quotes of both kinds, `[x]` and backticks (SQLite), `E''` with
 * backslashes, nested comments and dollar quotes (PostgreSQL). A quote that is not closed runs to the end.
 */
export function tokenize(sql: string, dialect: Dialect): Token[] {
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
      at = commentEnd(sql, at, dialect);
      continue;
    }
    if (character === "'") {
      push("text", quoted(sql, at, "'", false));
      continue;
    }
    if (character === '"' || (character === "`" && dialect === "sqlite")) {
      push("name", quoted(sql, at, character, false));
      continue;
    }
    if (character === "[" && dialect === "sqlite") {
      const end = sql.indexOf("]", at);
      push("name", sql.slice(at, end < 0 ? sql.length : end + 1));
      continue;
    }
    if (dialect === "postgres") {
      const dollar = match(DOLLAR);
      if (dollar !== null) {
        const end = sql.indexOf(dollar[0], at + dollar[0].length);
        push("text", sql.slice(at, end < 0 ? sql.length : end + dollar[0].length));
        continue;
      }
      if (/^[eE]'/.test(sql.slice(at, at + 2))) {
        push("text", character + quoted(sql, at + 1, "'", true));
        continue;
      }
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

/** Where a comment ends; those of PostgreSQL nest. */
function commentEnd(sql: string, start: number, dialect: Dialect): number {
  let open = 1;
  for (let at = start + 2; at < sql.length; at++) {
    const pair = sql.slice(at, at + 2);
    if (pair === "*/") {
      open -= 1;
      at += 1;
      if (open === 0) return at + 1;
    } else if (pair === "/*" && dialect === "postgres") {
      open += 1;
      at += 1;
    }
  }
  return sql.length;
}

/** The quoted text that begins at `start`, with its quotes. */
function quoted(sql: string, start: number, quote: string, backslashes: boolean): string {
  for (let at = start + 1; at < sql.length; at++) {
    const character = sql.charAt(at);
    if (backslashes && character === "\\") at += 1;
    else if (character === quote) {
      if (sql.charAt(at + 1) === quote) at += 1;
      else return sql.slice(start, at + 1);
    }
  }
  return sql.slice(start);
}

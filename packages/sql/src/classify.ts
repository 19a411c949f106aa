import { type Dialect, type Token, tokenize } from "./tokens.ts";

export interface Statement {
  /** The first keyword in capitals; after WITH, that of the statement proper. Empty where there is none. */
  readonly verb: string;
  /** The very first keyword, in capitals. */
  readonly first: string;
  readonly tokens: readonly Token[];
  /** How many statements the text holds. */
  readonly count: number;
}

/** What a statement would destroy, told by its text alone. */
export interface Destruction {
  /** `DROP TABLE users`, `DELETE of every row`. */
  readonly what: string;
  /** The table whose rows go, as it was written; undefined where none is named. */
  readonly table?: string;
}

const VERBS: ReadonlySet<string> = new Set([
  "SELECT",
  "INSERT",
  "REPLACE",
  "UPDATE",
  "DELETE",
  "VALUES",
  "MERGE",
]);

/** Looks at an SQL text by its tokens. */
export function statementOf(sql: string, dialect: Dialect): Statement {
  const tokens = tokenize(sql, dialect);
  const words = tokens.filter(({ kind }) => kind === "word");
  const first = tokens[0]?.kind === "word" ? tokens[0].text.toUpperCase() : "";
  const proper = words.find(({ text, depth }) => depth === 0 && VERBS.has(text.toUpperCase()));
  const verb = first === "WITH" ? (proper?.text.toUpperCase() ?? "WITH") : first;
  let count = 0;
  let open = false;
  for (const { text } of tokens) {
    if (text !== ";" && !open) count += 1;
    open = text !== ";";
  }
  return { verb, first, tokens, count };
}

/** What `statement` would destroy; undefined where it loses nothing by its text. */
export function destructionOf({ verb, tokens }: Statement): Destruction | undefined {
  const upper = tokens.map(({ kind, text }) => (kind === "word" ? text.toUpperCase() : text));
  switch (verb) {
    case "DROP":
    case "TRUNCATE": {
      const isTable = verb === "TRUNCATE" || upper[1] === "TABLE";
      let at = upper[1] === "TABLE" || verb === "DROP" ? 2 : 1;
      if (upper[at] === "IF") at += 2;
      const table = nameAt(tokens, at);
      const what = `${verb === "DROP" ? `DROP ${upper[1] ?? ""}` : verb} ${table}`;
      return isTable ? { what, table } : { what };
    }
    case "DELETE":
    case "UPDATE": {
      const where = tokens.findIndex(({ depth }, index) => depth === 0 && upper[index] === "WHERE");
      if (where >= 0 && isSelective(tokens.slice(where + 1))) return undefined;
      const table = targetOf({ verb, tokens }) ?? "";
      return { what: `${verb} of every row of ${table}`, table };
    }
    case "ALTER": {
      const drop = upper.indexOf("DROP");
      if (drop < 0) return undefined;
      const at = upper[drop + 1] === "COLUMN" ? drop + 2 : drop + 1;
      const table = nameAt(tokens, 2);
      return { what: `DROP COLUMN ${nameAt(tokens, at)} of ${table} with what is in it`, table };
    }
    default:
      return undefined;
  }
}

/** The table that an INSERT, REPLACE, UPDATE or DELETE names, as it was written; undefined for other statements. */
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

/** Whether a condition chooses rows: it names something. `WHERE true` and `WHERE 1 = 1` do not. */
function isSelective(condition: readonly Token[]): boolean {
  const constant = /^(TRUE|FALSE|NULL|NOT|AND|OR|IS|IN|LIKE|BETWEEN|RETURNING|LIMIT|ORDER|BY)$/i;
  for (const { kind, text } of condition) {
    if (kind === "word" && /^(RETURNING|ORDER|LIMIT)$/i.test(text)) return false;
    if (kind === "name" || (kind === "word" && !constant.test(text))) return true;
  }
  return false;
}

/** A name with its schema, as written. */
function nameAt(tokens: readonly Token[], start: number): string {
  let name = tokens[start]?.text ?? "";
  for (let at = start + 1; tokens[at]?.text === "."; at += 2) name += `.${tokens[at + 1]?.text ?? ""}`;
  return name;
}

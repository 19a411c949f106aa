import { StringDecoder } from "node:string_decoder";
import {
  isDenied,
  isDeniedRelation,
  type Mention,
  outlastsRollback,
  runsText,
} from "./functions.ts";
import { type Token, tokensOf } from "./syntax.ts";

/** What stored code names, and why it must not run, if there is a reason. */
export interface Body {
  readonly mentions: Iterable<Mention>;
  readonly reason: string | undefined;
  /** Whether it certainly has effects that a rollback does not undo. */
  readonly isCertain: boolean;
}

/** Commands that a function must not run in a read; the transaction stops those that write rows. */
const COMMANDS = new Set(
  `abort alter analyze call checkpoint cluster comment commit copy create deallocate discard do drop explain grant import listen
   load lock notify prepare reassign refresh reindex release reset revoke rollback savepoint security set show start truncate
   unlisten vacuum`.split(/\s+/),
);
/** What comes before a statement in SQL and PL/pgSQL. */
const BEFORE = new Set([";", "begin", "atomic", "then", "else", "loop", ">>"]);
const OPERATOR = /^[+\-*/<>=~!@#%^&|`?]+$/;

/**
 * Reads the code of a function, view, policy or constraint by its tokens: every word may be a type or relation, and every
 * word before a parenthesis a function. It sees too much rather than too little, since there is no place for code to hide.
 *
 * @param hasStatements whether it is a body in SQL or PL/pgSQL, not an expression
 * @param isChange whether a changing statement runs it
 */
export async function readBody(
  text: string,
  hasStatements: boolean,
  isChange: boolean,
): Promise<Body> {
  const mentions = new Set<Mention>();
  const reasons: string[] = [];
  const isRefused = isChange ? outlastsRollback : isDenied;
  let harm: string | undefined;
  const texts = [text];
  for (let next = texts.pop(); next !== undefined; next = texts.pop()) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the scanner does not report them.
    const scan = /[\0-\x08\x0e-\x1f]/.test(next) ? undefined : await tokensOf(next);
    const tokens = scan ?? [];
    // PostgreSQL decodes `U&"…"` later. The rest may still do certain harm.
    if (scan === undefined || tokens.some((token) => /^u&/i.test(token.text)))
      reasons.unshift("has code that can't be checked");
    for (const [at, token] of tokens.entries()) {
      const before = plain(tokens[at - 1]);
      const after = plain(tokens[at + 1]);
      const name = nameOf(token);
      if (OPERATOR.test(token.text))
        mentions.add(`operator ${token.text === "!=" ? "<>" : token.text}`);
      if (name === undefined) continue;
      mentions.add(`name ${name}`);
      const kind = after === "(" ? "function" : before === "." ? "attribute" : undefined;
      if (kind !== undefined) mentions.add(`${kind} ${name}`);
      if (kind !== undefined && isChange && runsText(name)) reasons.push(`calls ${name}`);
      if (kind !== undefined && isRefused(name)) harm ??= `calls ${name}`;
      if (isDeniedRelation(name)) reasons.push(`reads ${name}`);
      const word = plain(token);
      const isFirst = hasStatements && (at === 0 || BEFORE.has(before));
      if (isFirst && COMMANDS.has(word) && !/^(:=|[=.[])$/.test(after))
        reasons.push(`runs ${word.toUpperCase()}`);
      if (word === "execute" && before !== "." && !/^(:=|[=.[])$/.test(after)) {
        const constant = constantOf(tokens[at + 1]);
        const isWhole = ["", ";", "using", "into", "loop"].includes(plain(tokens[at + 2]));
        if (constant !== undefined && isWhole) texts.push(constant);
        else reasons.push("runs SQL that it builds at run time");
      }
    }
  }
  return { mentions, reason: harm ?? reasons[0], isCertain: harm !== undefined };
}

/** A token in lower case; empty if there is none. */
const plain = (token: Token | undefined) => token?.text.toLowerCase() ?? "";

/** The name that a word means, folded and cut as PostgreSQL does. */
function nameOf({ text, tokenName, keywordName }: Token): string | undefined {
  if (tokenName !== "IDENT" && keywordName === "NO_KEYWORD") return undefined;
  const name = text.startsWith('"')
    ? text.slice(1, -1).replaceAll('""', '"')
    : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const bytes = Buffer.from(name);
  // Without a part of a letter at the end.
  return bytes.length < 64 ? name : new StringDecoder().write(bytes.subarray(0, 63));
}

/** The value of a string without escapes. */
const constantOf = (token: Token | undefined): string | undefined =>
  /^'(.*)'$/s.exec(token?.text ?? "")?.[1]?.replaceAll("''", "'") ??
  /^(\$\w*\$)(.*)\1$/s.exec(token?.text ?? "")?.[2];

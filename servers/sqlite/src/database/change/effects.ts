import { unquoted } from "@refmcp/sql";
import { folded, type Statement, targetOf } from "../gate/tokens.ts";

/** What a change does with rows, by its text; its effects are found out when it runs. */
export function watched({ verb, tokens }: Statement) {
  const target = targetOf({ verb, tokens });
  const words = tokens.flatMap(({ kind, text }) => (kind === "word" ? [text.toUpperCase()] : []));
  const overwrites = words.some(
    (word, at) => word === "REPLACE" || (word === "DO" && words[at + 1] === "UPDATE"),
  );
  const changesRows = /^(INSERT|REPLACE|UPDATE|DELETE)$/.test(verb);
  const [, what] = tokens;
  const kind = changesRows || what?.kind !== "word" ? "" : ` ${what.text.toUpperCase()}`;
  return {
    verb,
    command: `${verb}${kind}`,
    overwrites: overwrites && /^(INSERT|REPLACE|UPDATE)$/.test(verb),
    ...(target === undefined ? {} : { target: folded(unquoted(target.replace(/^.*\./s, ""))) }),
  };
}

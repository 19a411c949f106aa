import { readFileSync } from "node:fs";
import { oneLine } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import type { OwnQuery } from "../driver/catalog.ts";
import { denied } from "../driver/errors.ts";
import { type Body, readBody } from "./bodies.ts";
import {
  callOf,
  HARMLESS,
  isDenied,
  isDeniedExtension,
  type Mention,
  outlastsRollback,
} from "./functions.ts";

const NAMES = readFileSync(new URL("./names.sql", import.meta.url), "utf8");
const REACH = readFileSync(new URL("./reach.sql", import.meta.url), "utf8");

/** A row of reach.sql. */
interface Reached extends QueryResultRow {
  readonly mention: Mention;
  readonly object: string;
  readonly function: string | null;
  readonly fact: string;
  readonly value: string;
}

/** An object with what it names, and why it must not run, if there is a reason. */
type Judged = Reached & Body;

type Look = <Row extends QueryResultRow>(query: OwnQuery) => Promise<Row[]>;

const ALWAYS: Mention = "always ";

/**
 * What is judged. A dry run, and a change whose loss the user declines, are rolled back, so that they must not reach what that does
 * not undo; a read and a dry run must only reach code that can be checked.
 */
type Mode = "read" | "change" | "dry run";

/**
 * Stops what a rollback does not undo, wherever a statement reaches it: functions, operators, casts, aggregates, domains,
 * views and policies are judged by what they do. SQL and PL/pgSQL are read, with all that they name; other languages can't
 * be. Any role may declare such objects at any time, so each statement is judged in its own transaction.
 */
export class FunctionGate {
  readonly #allowed: ReadonlySet<string>;

  /** @param allowed names of functions that are not judged, or `*` for all */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((name) => name.toLowerCase()));
  }

  /**
   * Judges a statement by what it mentions.
   *
   * @param look a change sees what its transaction has made
   * @returns whether it runs only PostgreSQL's own code
   * @throws ToolError `denied` if it reaches what a rollback does not undo
   */
  async requireHarmless(
    look: Look,
    mentions: readonly Mention[],
    mode: Mode = "read",
  ): Promise<boolean> {
    const isRead = mode === "read";
    if (isRead && mentions.length === 0) return true;
    if (this.#allowed.has("*")) return false;
    const asked = this.#unallowed([...mentions, ALWAYS]);
    // A read only reaches what was made after initdb; what a change reaches is looked up at once.
    const first = isRead ? await madeHere(look, asked) : asked;
    const paths = new Map<Mention, readonly Judged[]>(asked.map((mention) => [mention, []]));
    for (let waiting = first; waiting.length > 0; ) {
      const named: Mention[] = [];
      for (const judged of await judge(look, waiting, !isRead)) {
        const path = [...(paths.get(judged.mention) ?? []), judged];
        if (judged.reason !== undefined && (judged.isCertain || mode !== "change"))
          throw refusal(path, !isRead);
        for (const mention of judged.mentions) {
          if (paths.has(mention)) continue;
          paths.set(mention, path);
          named.push(mention);
        }
      }
      const next = this.#unallowed(named);
      waiting = isRead ? await madeHere(look, next) : next;
    }
    return first.length === 0 && asked.length > mentions.length;
  }

  #unallowed(mentions: readonly Mention[]): readonly Mention[] {
    return mentions.filter((mention) => {
      const [, name = ""] = /^(?:function|attribute) (.*)/s.exec(mention) ?? [];
      return !this.#allowed.has(name.toLowerCase());
    });
  }
}

/** Those of the mentions that may reach code that is not PostgreSQL's own. */
async function madeHere(look: Look, mentions: readonly Mention[]): Promise<Mention[]> {
  if (mentions.length === 0) return [];
  const named = (kind: string) =>
    mentions.flatMap((mention) => (mention.startsWith(kind) ? [mention.slice(kind.length)] : []));
  const lists = ["operator ", "function ", "attribute ", "type ", "name "].map(named);
  const rows = await look({ text: NAMES, values: lists });
  const matches = new Set(rows.map(({ mention }) => mention));
  const isForeign = (mention: Mention) => matches.has("encoding") && /[^ -~]/.test(mention);
  return mentions.filter((mention) => matches.has(mention) || isForeign(mention));
}

/** Judges the objects that are mentioned, fact by fact; a name may have several. */
async function judge(
  look: Look,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<readonly Judged[]> {
  const rows = await look<Reached>({ text: REACH, values: [asked, isChange] });
  const bodies = await Promise.all(rows.map((row) => bodyOf(row, isChange)));
  return rows.map((row, at) => ({ ...row, ...(bodies[at] as Body) }));
}

/** What a fact names and says. */
async function bodyOf({ fact, value }: Reached, isChange: boolean): Promise<Body> {
  const isStatements = fact === "statements";
  if (isStatements || fact === "expression") return await readBody(value, isStatements, isChange);
  const isLibrary = fact === "library" || fact === "volatile";
  const isRefused = isChange ? outlastsRollback : isLibrary ? isDeniedExtension : isDenied;
  if ((isLibrary || fact === "function") && isRefused(value)) {
    const reason = isLibrary ? "is known for effects beyond table rows" : `calls ${value}`;
    return { mentions: [], reason, isCertain: true };
  }
  const isDoubtful = fact === "volatile" && !HARMLESS.has(value);
  const doubt = isDoubtful ? "is written in C and declared VOLATILE" : undefined;
  const isNamed = fact === "operator" || fact === "type";
  const mentions =
    fact === "function" ? callOf(value) : isNamed ? [`${fact} ${value}` as const] : [];
  return { mentions, reason: fact === "reason" ? value : doubt, isCertain: false };
}

/** @param path from what the statement names to what does harm */
function refusal(path: readonly Judged[], isChange: boolean) {
  const [first, ...rest] = path.map(({ object }) => oneLine(object.replace(/\bpublic\./, "")));
  const way = rest.length === 0 ? "" : `uses the ${rest.slice(-3).join(", the ")}, which `;
  const reason = oneLine(path.at(-1)?.reason ?? "");
  const own = path.findLast((judged) => judged.function !== null)?.function ?? "";
  const option = `, or, if its effects are acceptable, ask the user to start the server with --allow-function ${oneLine(own)}`;
  const allowing = own === "" ? "" : option;
  return denied(
    `The ${first} is blocked: it ${way}${reason}.`,
    isChange
      ? `A dry run, and a change before the user confirms it, only run code that a rollback undoes. Change the tables directly${allowing}.`
      : `A read only runs code that a rollback undoes. Read the tables directly${allowing}.`,
  );
}

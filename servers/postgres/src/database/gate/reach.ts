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
  readonly kind: string;
  readonly name: string;
  readonly object: string;
  readonly function: string | null;
  readonly fact: string;
  readonly value: string;
}

/** An object with what it names, and why it must not run, if there is a reason. */
interface Judged extends Body {
  readonly object: string;
  readonly function: string | undefined;
}

type Look = <Row extends QueryResultRow>(query: OwnQuery) => Promise<Row[]>;

const ALWAYS: Mention = "always ";

/** What is judged: a read and a dry run must only reach code that can be checked. */
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
   * Judges a reading statement.
   *
   * @returns whether it runs only PostgreSQL's own code
   * @throws ToolError `denied` if a statement that mentions these reaches what a rollback does not undo
   */
  async requireHarmless(look: Look, mentions: readonly Mention[]): Promise<boolean> {
    if (mentions.length === 0) return true;
    if (this.#allowed.has("*")) return false;
    const judged = this.#unallowed([...mentions, ALWAYS]);
    const made = await madeHere(look, judged);
    const path = await this.#harmFrom(look, made, "read");
    if (path !== undefined) throw refusal(path);
    return made.length === 0 && judged.length > mentions.length;
  }

  /**
   * The same for a changing statement, in its transaction, which may have created what it reaches. A dry run and a change whose
   * loss the user declines are rolled back, so they must not reach what that does not undo.
   *
   * @param blocks the code of DO statements
   * @throws ToolError `denied`
   */
  async requireUndoable(
    look: Look,
    { mentions, blocks }: { mentions: readonly Mention[]; blocks: readonly string[] },
    isDryRun: boolean,
  ): Promise<void> {
    if (this.#allowed.has("*")) return;
    const bodies = await Promise.all(blocks.map((text) => readBody(text, true, true)));
    const refused = bodies.find(({ reason, isCertain }) => reason && (isCertain || isDryRun));
    const reached = [ALWAYS, ...mentions, ...bodies.flatMap((body) => [...body.mentions])];
    const path =
      refused === undefined
        ? await this.#harmFrom(look, this.#unallowed(reached), isDryRun ? "dry run" : "change")
        : [{ object: "block", function: undefined, ...refused }];
    if (path !== undefined) throw refusal(path, true);
  }

  #unallowed(mentions: readonly Mention[]): readonly Mention[] {
    return mentions.filter((mention) => {
      const [, name = ""] = /^(?:function|attribute) (.*)/s.exec(mention) ?? [];
      return !this.#allowed.has(name.toLowerCase());
    });
  }

  /** The objects on the way to one that does harm; undefined if there is none. */
  async #harmFrom(
    look: Look,
    mentions: readonly Mention[],
    mode: Mode,
  ): Promise<Judged[] | undefined> {
    const paths = new Map<Mention, readonly Judged[]>(mentions.map((mention) => [mention, []]));
    for (let waiting: readonly Mention[] = [...paths.keys()]; waiting.length > 0; ) {
      const named: Mention[] = [];
      for (const [from, judged] of await judge(look, waiting, mode !== "read")) {
        const path = [...(paths.get(from) ?? []), judged];
        if (judged.reason !== undefined && (judged.isCertain || mode !== "change")) return path;
        for (const mention of judged.mentions) {
          if (paths.has(mention)) continue;
          paths.set(mention, path);
          named.push(mention);
        }
      }
      const next = this.#unallowed(named);
      // A read only reaches what was made after initdb; what a change reaches is looked up at once.
      waiting = mode === "read" ? await madeHere(look, next) : next;
    }
    return undefined;
  }
}

/** Those of the mentions that may reach code that is not PostgreSQL's own. */
async function madeHere(look: Look, mentions: readonly Mention[]): Promise<Mention[]> {
  if (mentions.length === 0) return [];
  const named = (kind: string) =>
    mentions.flatMap((mention) => (mention.startsWith(kind) ? [mention.slice(kind.length)] : []));
  const lists = ["operator ", "function ", "attribute ", "type ", "relation "].map(named);
  const rows = await look({ text: NAMES, values: lists });
  const made = new Set(rows.map(({ mention }) => mention));
  const isForeign = (mention: Mention) => made.has("encoding") && /[^ -~]/.test(mention);
  return mentions.filter((mention) => made.has(mention) || isForeign(mention));
}

/** Judges the objects that are mentioned, fact by fact; a name may have several. */
async function judge(
  look: Look,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<[Mention, Judged][]> {
  const kinds = asked.map((mention) => mention.slice(0, mention.indexOf(" ")));
  const names = asked.map((mention) => mention.slice(mention.indexOf(" ") + 1));
  const rows = await look<Reached>({ text: REACH, values: [kinds, names, isChange] });
  return await Promise.all(
    rows.map(async (row): Promise<[Mention, Judged]> => {
      const from = asked.find((mention) => mention === `${row.kind} ${row.name}`) ?? ALWAYS;
      const { object, function: own } = row;
      return [from, { object, function: own ?? undefined, ...(await judgedBy(row, isChange)) }];
    }),
  );
}

async function judgedBy({ fact, value }: Reached, isChange: boolean): Promise<Body> {
  const isStatements = fact === "statements";
  if (isStatements || fact === "expression") return await readBody(value, isStatements, isChange);
  const isRefused = isChange ? outlastsRollback : isDenied;
  const isEffect = fact === "library" && (isChange ? isRefused : isDeniedExtension)(value);
  const isCall = fact === "function" && isRefused(value);
  const harm = isEffect ? "is known for effects beyond table rows" : `calls ${value}`;
  const doubt = fact === "volatile" ? "is written in C and declared VOLATILE" : value;
  const isDoubtful = fact === "reason" || (fact === "volatile" && !HARMLESS.has(value));
  const isCertain = isEffect || isCall;
  const named = fact === "function" ? callOf(value) : [`${fact} ${value}` as Mention];
  return {
    mentions: new Set(/^(function|operator|type)$/.test(fact) ? named : []),
    reason: isCertain ? harm : isDoubtful ? doubt : undefined,
    isCertain,
  };
}

/** @param path from what the statement names to what does harm */
function refusal(path: readonly Judged[], isChange = false) {
  const [first, ...rest] = path.map(({ object }) => oneLine(object.replace(/\bpublic\./, "")));
  const way = rest.length === 0 ? "" : `uses the ${rest.slice(-3).join(", the ")}, which `;
  const reason = oneLine(path.at(-1)?.reason ?? "");
  const own = path.findLast((judged) => judged.function !== undefined)?.function ?? "";
  const option = `, or, if its effects are acceptable, ask the user to start the server with --allow-function ${oneLine(own)}`;
  const allowing = own === "" ? "" : option;
  return denied(
    `The ${first} is blocked: it ${way}${reason}.`,
    isChange
      ? `A dry run, and a change before the user confirms it, only run code that a rollback undoes. Change the tables directly${allowing}.`
      : `A read only runs code that a rollback undoes. Read the tables directly${allowing}.`,
  );
}

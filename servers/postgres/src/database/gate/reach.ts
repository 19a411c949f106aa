import { readFileSync } from "node:fs";
import { oneLine } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import { catalogRows, type OwnQuery } from "../driver/catalog.ts";
import type { Connection } from "../driver/connection.ts";
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
interface Reached {
  readonly kind: string;
  readonly name: string;
  readonly object: string;
  readonly function: string | null;
  readonly compiled: boolean;
  readonly extension: boolean;
  readonly reason: string | null;
  readonly body: string | null;
  readonly texts: readonly string[] | null;
  readonly functions: readonly string[] | null;
  readonly operators: readonly string[] | null;
  readonly types: readonly string[] | null;
}

/** An object with what it names, and why it must not run, if there is a reason. */
interface Judged extends Body {
  readonly object: string;
  readonly function: string | undefined;
}

/** A session, with the rows of `lookUp` if they are already there. */
interface Asked extends Pick<Connection, "rows"> {
  readonly connection: Pick<Connection, "client">;
  readonly looked: readonly QueryResultRow[] | undefined;
}

/** The look-up before every read, with PostgreSQL's own operators whatever is in the search path. */
const LOOK_UP = NAMES.replace(/ ([<>=]+|-) /g, " OPERATOR(pg_catalog.$1) ");

const ALWAYS: Mention = "always ";

/** How a change is judged: a dry run must only reach code that can be checked. */
interface AsChange {
  readonly isDryRun: boolean;
}

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

  /** What `requireHarmless` asks first, so that it can go with BEGIN; undefined if nothing. */
  lookUp(mentions: readonly Mention[]): OwnQuery | undefined {
    const judged = this.#judged(mentions);
    return judged.length === 0 ? undefined : lookUpOf(judged);
  }

  /**
   * Judges a reading statement.
   *
   * @returns whether it runs only PostgreSQL's own code
   * @throws ToolError `denied` if a statement that mentions these reaches what a rollback does not undo
   */
  async requireHarmless(session: Asked, mentions: readonly Mention[]): Promise<boolean> {
    if (mentions.length === 0) return true;
    const judged = this.#judged(mentions);
    const made = await madeHere(session, judged, session.looked);
    const path = await this.#harmFrom(session, made, undefined);
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
    session: Asked,
    { mentions, blocks }: { mentions: readonly Mention[]; blocks: readonly string[] },
    isDryRun: boolean,
  ): Promise<void> {
    if (this.#allowed.has("*")) return;
    const bodies = await Promise.all(blocks.map((text) => readBody(text, true, true)));
    const refused = bodies.find(({ reason, isCertain }) => reason && (isCertain || isDryRun));
    const reached = [ALWAYS, ...mentions, ...bodies.flatMap((body) => [...body.mentions])];
    const path =
      refused === undefined
        ? await this.#harmFrom(session, this.#unallowed(reached), { isDryRun })
        : [{ object: "block", function: undefined, ...refused }];
    if (path !== undefined) throw refusal(path, true);
  }

  /** What a reading statement with these mentions is judged by. */
  #judged(mentions: readonly Mention[]): readonly Mention[] {
    const isJudged = mentions.length > 0 && !this.#allowed.has("*");
    return isJudged ? this.#unallowed([...mentions, ALWAYS]) : [];
  }

  #unallowed(mentions: readonly Mention[]): readonly Mention[] {
    return mentions.filter((mention) => {
      const [, name = ""] = /^(?:function|attribute) (.*)/s.exec(mention) ?? [];
      return !this.#allowed.has(name.toLowerCase());
    });
  }

  /** The objects on the way to one that does harm; undefined if there is none. */
  async #harmFrom(
    session: Asked,
    mentions: readonly Mention[],
    change: AsChange | undefined,
  ): Promise<Judged[] | undefined> {
    const paths = new Map<Mention, readonly Judged[]>(mentions.map((mention) => [mention, []]));
    for (let waiting: readonly Mention[] = [...paths.keys()]; waiting.length > 0; ) {
      const named: Mention[] = [];
      for (const [from, judged] of await judge(session, waiting, change !== undefined)) {
        const path = [...(paths.get(from) ?? []), judged];
        if (judged.reason !== undefined && (judged.isCertain || change?.isDryRun !== false))
          return path;
        for (const mention of judged.mentions) {
          if (paths.has(mention)) continue;
          paths.set(mention, path);
          named.push(mention);
        }
      }
      const next = this.#unallowed(named);
      // A read only reaches what was made after initdb; what a change reaches is looked up at once.
      waiting = change === undefined ? await madeHere(session, next) : next;
    }
    return undefined;
  }
}

/** Kinds and names as two lists. */
function listsOf(mentions: readonly Mention[]): [kinds: string[], names: string[]] {
  const parts = mentions.map((mention) => /^(\w+) (.*)/s.exec(mention) ?? []);
  return [parts.map(([, kind = ""]) => kind), parts.map(([, , name = ""]) => name)];
}

const lookUpOf = (mentions: readonly Mention[]): OwnQuery => {
  return { text: LOOK_UP, values: listsOf(mentions), isQualified: true };
};

/** Those of the mentions that may reach code that is not PostgreSQL's own. @param looked rows of `lookUpOf`, if they are there */
async function madeHere(
  session: Asked,
  mentions: readonly Mention[],
  looked?: Asked["looked"],
): Promise<Mention[]> {
  if (mentions.length === 0) return [];
  const rows = looked ?? (await catalogRows(session.connection.client, lookUpOf(mentions)));
  const made = new Set(rows.map(({ at }) => Number(at)));
  return mentions.filter((_, index) => made.has(index + 1));
}

/** Judges the objects that are mentioned; a name may have several. */
async function judge(
  session: Asked,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<[Mention, Judged][]> {
  const isRefused = isChange ? outlastsRollback : isDenied;
  const rows = await session.rows<Reached>(REACH, [...listsOf(asked), isChange]);
  return await Promise.all(
    rows.map(async (row): Promise<[Mention, Judged]> => {
      const bodies = [
        ...(row.body === null ? [] : [await readBody(row.body, true, isChange)]),
        ...(await Promise.all((row.texts ?? []).map((text) => readBody(text, false, isChange)))),
      ];
      const { functions, operators, types } = row;
      const own = functions?.find(isRefused);
      const harm =
        (row.compiled && (isChange ? isRefused : isDeniedExtension)(row.function ?? "")
          ? "is known for effects beyond table rows"
          : undefined) ??
        (own === undefined ? undefined : `calls ${own}`) ??
        bodies.find(({ isCertain }) => isCertain)?.reason;
      const doubt = bodies.find(({ reason }) => reason !== undefined)?.reason;
      const isKnown = row.extension && row.compiled && HARMLESS.has(row.function ?? "");
      const judged = {
        object: row.object,
        function: row.function ?? undefined,
        reason: isKnown ? undefined : (row.reason ?? harm ?? doubt),
        isCertain: harm !== undefined,
        mentions: new Set<Mention>([
          ...bodies.flatMap(({ mentions }) => [...mentions]),
          ...(functions ?? []).flatMap((name) => callOf(name)),
          ...(operators ?? []).map((name): Mention => `operator ${name}`),
          ...(types ?? []).map((name): Mention => `type ${name}`),
        ]),
      };
      return [asked.find((mention) => mention === `${row.kind} ${row.name}`) ?? ALWAYS, judged];
    }),
  );
}

/** @param path from what the statement names to what does harm */
function refusal(path: readonly Judged[], isChange = false) {
  const [first, ...rest] = path.map(({ object }) => oneLine(object));
  const used = rest
    .slice(-3)
    .map((object, at) => `${at === 0 ? "uses" : "which uses"} the ${object}`);
  const last = path.at(-1);
  const does = `${rest.length > 0 ? "which " : ""}${oneLine(last?.reason ?? "")}`;
  const own = path.findLast((judged) => judged.function !== undefined)?.function;
  const allowing =
    own === undefined
      ? ""
      : `, or, if its effects are acceptable, ask the user to start the server with --allow-function ${oneLine(own)}`;
  return denied(
    `The ${first} is blocked: it ${[...used, does].join(", ")}.`,
    isChange
      ? `A dry run, and a change before the user confirms it, only run code that a rollback undoes. Change the tables directly${allowing}.`
      : `A read only runs code that a rollback undoes. Read the tables directly${allowing}.`,
  );
}

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

type Look = <Row extends QueryResultRow>(query: OwnQuery) => Promise<Row[]>;

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
    const path = await this.#harmFrom(look, made, undefined);
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
        ? await this.#harmFrom(look, this.#unallowed(reached), { isDryRun })
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
    change: AsChange | undefined,
  ): Promise<Judged[] | undefined> {
    const paths = new Map<Mention, readonly Judged[]>(mentions.map((mention) => [mention, []]));
    for (let waiting: readonly Mention[] = [...paths.keys()]; waiting.length > 0; ) {
      const named: Mention[] = [];
      for (const [from, judged] of await judge(look, waiting, change !== undefined)) {
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
      waiting = change === undefined ? await madeHere(look, next) : next;
    }
    return undefined;
  }
}

/** Kinds and names as two lists. */
function listsOf(mentions: readonly Mention[]): [kinds: string[], names: string[]] {
  const parts = mentions.map((mention) => /^(\w+) (.*)/s.exec(mention) ?? []);
  return [parts.map(([, kind = ""]) => kind), parts.map(([, , name = ""]) => name)];
}

/** Those of the mentions that may reach code that is not PostgreSQL's own. */
async function madeHere(look: Look, mentions: readonly Mention[]): Promise<Mention[]> {
  if (mentions.length === 0) return [];
  const named = (kind: string) =>
    mentions.flatMap((mention) => (mention.startsWith(kind) ? [mention.slice(kind.length)] : []));
  const lists = ["operator ", "function ", "attribute ", "type ", "relation "].map(named);
  const rows = await look({ text: NAMES, values: lists, isNameless: true });
  const made = new Set(rows.map(({ mention }) => mention));
  return mentions.filter((mention) => mention === "database " || made.has(mention));
}

/** Judges the objects that are mentioned; a name may have several. */
async function judge(
  look: Look,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<[Mention, Judged][]> {
  const isRefused = isChange ? outlastsRollback : isDenied;
  const rows = await look<Reached & QueryResultRow>({
    text: REACH,
    values: [...listsOf(asked), isChange],
  });
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

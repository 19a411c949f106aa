import { oneLine } from "@refmcp/boundary/answer";
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
import NAMES from "./names.sql.ts";
import REACH from "./reach.sql.ts";

/** A row of reach.sql.ts. */
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

type Rows = Pick<Connection, "rows">;

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
   * @throws ToolError `denied` if a statement that mentions these reaches what a rollback does not undo
   */
  async requireHarmless(session: Rows, mentions: readonly Mention[]): Promise<void> {
    if (this.#allowed.has("*") || mentions.length === 0) return;
    const path = await this.#harmFrom(session, [...mentions, ALWAYS], undefined);
    if (path !== undefined) throw refusal(path);
  }

  /**
   * The same for a changing statement, in its transaction, which may have created what it reaches. A dry run and a change whose
   * loss the user declines are rolled back, so they must not reach what that does not undo.
   *
   * @param blocks the code of DO statements
   * @throws ToolError `denied`
   */
  async requireUndoable(
    session: Rows,
    { mentions, blocks }: { mentions: readonly Mention[]; blocks: readonly string[] },
    isDryRun: boolean,
  ): Promise<void> {
    if (this.#allowed.has("*")) return;
    const bodies = await Promise.all(blocks.map((text) => readBody(text, true, true)));
    const refused = bodies.find(({ reason, isCertain }) => reason && (isCertain || isDryRun));
    const reached = [ALWAYS, ...mentions, ...bodies.flatMap((body) => [...body.mentions])];
    const path =
      refused === undefined
        ? await this.#harmFrom(session, reached, { isDryRun })
        : [{ object: "block", function: undefined, ...refused }];
    if (path !== undefined) throw refusal(path, true);
  }

  #isAllowed(mention: Mention): boolean {
    const [, name = ""] = /^(?:function|attribute) (.*)/s.exec(mention) ?? [];
    return this.#allowed.has(name.toLowerCase());
  }

  /** The objects on the way to one that does harm; undefined if there is none. */
  async #harmFrom(
    session: Rows,
    mentions: readonly Mention[],
    change: AsChange | undefined,
  ): Promise<Judged[] | undefined> {
    const paths = new Map<Mention, readonly Judged[]>(mentions.map((mention) => [mention, []]));
    for (let waiting = [...paths.keys()]; waiting.length > 0; ) {
      const judgeable = waiting.filter((mention) => !this.#isAllowed(mention));
      // A read only reaches what was made after initdb; what a change reaches is looked up at once.
      const next = change === undefined ? await madeHere(session, judgeable) : judgeable;
      const found = next.length === 0 ? [] : await judge(session, next, change !== undefined);
      waiting = [];
      for (const [from, judged] of found) {
        const path = [...(paths.get(from) ?? []), judged];
        if (judged.reason !== undefined && (judged.isCertain || change?.isDryRun !== false))
          return path;
        for (const mention of judged.mentions) {
          if (paths.has(mention)) continue;
          paths.set(mention, path);
          waiting.push(mention);
        }
      }
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
async function madeHere(session: Rows, mentions: readonly Mention[]): Promise<Mention[]> {
  const rows = await session.rows<{ mention: string }>(NAMES, listsOf(mentions));
  const made = new Set(rows.map(({ mention }) => mention));
  return mentions.filter((mention) => made.has(mention));
}

/** Judges the objects that are mentioned; a name may have several. */
async function judge(
  session: Rows,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<[Mention, Judged][]> {
  const isRefused = isChange ? outlastsRollback : isDenied;
  const found = await session.rows<Reached>(REACH, [...listsOf(asked), isChange]);
  return await Promise.all(
    found.map(async (row): Promise<[Mention, Judged]> => {
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
  const own = path.findLast((one) => one.function !== undefined)?.function;
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

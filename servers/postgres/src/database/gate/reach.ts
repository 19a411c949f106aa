import { oneLine } from "@refmcp/boundary/answer";
import type { Connection } from "../driver/connection.ts";
import { denied } from "../errors.ts";
import { type Body, readBody } from "./bodies.ts";
import FINGERPRINT from "./fingerprint.sql.ts";
import {
  callOf,
  HARMLESS,
  IMPLIED,
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

const REDECLARED = "refmcp: what statements may reach was redeclared";
/** Fails if the fingerprint is not this one. */
const guard = (fingerprint: string) =>
  `SELECT (SELECT '${REDECLARED}'::pg_catalog.text FROM (${FINGERPRINT}) found
     WHERE now OPERATOR(pg_catalog.<>) ${fingerprint}::pg_catalog.text)::pg_catalog.int4`;
const GUARD = "refmcp_guard";
/** The guard with the fingerprint as its parameter: planning takes most of its time. */
export const PREPARED_GUARD = `PREPARE ${GUARD} (pg_catalog.text) AS ${guard("$1")}`;

const ALWAYS: Mention = "always ";

/** What was read of a catalog, valid while its fingerprint is the same. */
interface Catalog {
  readonly fingerprint: string;
  /** Names of objects that are not PostgreSQL's own. */
  readonly names: ReadonlySet<string>;
  /** What was judged harmless with everything that it reaches. */
  readonly harmless: Set<Mention>;
  /**
   * Whether a domain, cast, operator class or index may do harm without being named. Every statement is then looked up with
   * the types of its columns, which may change without the fingerprint.
   */
  readonly isStrict: boolean;
  /** Set for a changing statement; a dry run must only reach code that can be checked. */
  readonly change?: { readonly isDryRun: boolean };
}

/**
 * Stops what a rollback does not undo, wherever a statement reaches it: functions, operators, casts, aggregates, domains,
 * views and policies are judged by what they do. SQL and PL/pgSQL are read, with all that they name; other languages can't
 * be. Any role may declare such objects at any time, so the fingerprint of the catalog is compared in the transaction of
 * each statement.
 */
export class FunctionGate {
  readonly #allowed: ReadonlySet<string>;
  #catalog: Catalog | undefined;

  /** @param allowed names of functions that are not judged, or `*` for all */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((name) => name.toLowerCase()));
  }

  /** Whether nothing may run that it does not judge. */
  get judgesAll(): boolean {
    return this.#allowed.size === 0;
  }

  /**
   * Statements to run before one that mentions these, which fail if the catalog is no longer the one that was judged;
   * undefined if it needs `requireHarmless`.
   *
   * @param isPrepared whether the session has `PREPARED_GUARD`
   */
  guards(mentions: readonly Mention[], isPrepared: boolean): string[] | undefined {
    const catalog = this.#catalog;
    if (this.#allowed.has("*") || mentions.length === 0) return [];
    if (catalog === undefined || catalog.isStrict) return undefined;
    if (mentions.some((one) => this.#mayRun(catalog, one) && !catalog.harmless.has(one)))
      return undefined;
    const expected = `'${catalog.fingerprint}'`;
    return [isPrepared ? `EXECUTE ${GUARD} (${expected})` : guard(expected)];
  }

  /** Whether an error is that of a guard; the statement then needs `requireHarmless`. */
  isRedeclared(error: unknown): boolean {
    const isGuard =
      error instanceof Error &&
      (error.message.includes(REDECLARED) || error.message.includes(`"${GUARD}"`));
    if (isGuard) this.#catalog = undefined;
    return isGuard;
  }

  /** @throws ToolError `denied` if a statement that mentions these reaches what a rollback does not undo. */
  async requireHarmless(session: Rows, mentions: readonly Mention[]): Promise<void> {
    if (this.#allowed.has("*") || mentions.length === 0) return;
    const catalog = await this.#look(session);
    const path = await this.#harmFrom(
      session,
      catalog,
      catalog.isStrict ? [...mentions, ALWAYS] : mentions,
    );
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
    const known = { fingerprint: "", names: new Set<string>(), harmless: new Set<Mention>() };
    const reached = [ALWAYS, ...mentions, ...bodies.flatMap((body) => [...body.mentions])];
    const path =
      refused === undefined
        ? await this.#harmFrom(session, { ...known, isStrict: true, change: { isDryRun } }, reached)
        : [{ object: "block", function: undefined, ...refused }];
    if (path !== undefined) throw refusal(path, true);
  }

  /** The current catalog; if it changed, what no statement names is judged again. */
  async #look(session: Rows): Promise<Catalog> {
    const found = await session.rows<{ kind: string; name: string }>(
      `${NAMES} UNION ALL SELECT 'fingerprint', now FROM (${FINGERPRINT}) found`,
    );
    const fingerprint = found.find(({ kind }) => kind === "fingerprint")?.name ?? "";
    const known = this.#catalog;
    if (known?.fingerprint === fingerprint && !known.isStrict) return known;
    const names = new Set(found.map(({ kind, name }) => `${kind} ${name}`));
    const strict = { fingerprint, names, harmless: new Set<Mention>(), isStrict: true };
    const isStrict =
      (await this.#harmFrom(session, strict, ["database ", ...IMPLIED])) !== undefined;
    this.#catalog = { ...strict, isStrict };
    return this.#catalog;
  }

  #mayRun({ names, isStrict, change }: Catalog, mention: Mention): boolean {
    const [, kind, name = ""] = /^(\w+) (.*)/s.exec(mention) ?? [];
    if (kind === "function" || kind === "attribute") {
      if (this.#allowed.has(name.toLowerCase())) return false;
    } else if (kind === "type") return isStrict;
    return (
      kind === "database" ||
      kind === "always" ||
      change !== undefined ||
      names.has(mention) ||
      (isStrict && kind === "relation")
    );
  }

  /** The objects on the way to one that does harm; undefined if there is none. */
  async #harmFrom(
    session: Rows,
    catalog: Catalog,
    mentions: readonly Mention[],
  ): Promise<Judged[] | undefined> {
    const paths = new Map<Mention, readonly Judged[]>(mentions.map((one) => [one, []]));
    const asked = new Set<Mention>();
    for (let waiting = [...paths.keys()]; waiting.length > 0; ) {
      const next = waiting.filter(
        (one) => this.#mayRun(catalog, one) && !catalog.harmless.has(one),
      );
      waiting = [];
      for (const one of next) asked.add(one);
      const { change } = catalog;
      const found = next.length === 0 ? [] : await judge(session, next, change !== undefined);
      for (const [from, judged] of found) {
        const path = [...(paths.get(from) ?? []), judged];
        if (judged.reason !== undefined && (judged.isCertain || change?.isDryRun !== false))
          return path;
        for (const one of judged.mentions) {
          if (paths.has(one)) continue;
          paths.set(one, path);
          waiting.push(one);
        }
      }
    }
    for (const one of asked) catalog.harmless.add(one);
    return undefined;
  }
}

/** Judges the objects that are mentioned; a name may have several. */
async function judge(
  session: Rows,
  asked: readonly Mention[],
  isChange: boolean,
): Promise<[Mention, Judged][]> {
  const isRefused = isChange ? outlastsRollback : isDenied;
  const parts = asked.map((one) => /^(\w+) (.*)/s.exec(one) ?? []);
  const found = await session.rows<Reached>(REACH, [
    parts.map(([, kind]) => kind),
    parts.map(([, , name]) => name),
    isChange,
  ]);
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
      return [asked.find((one) => one === `${row.kind} ${row.name}`) ?? "always ", judged];
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

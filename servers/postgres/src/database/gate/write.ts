import { ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier, shownSql } from "@refmcp/sql";
import { denied } from "../driver/errors.ts";
import { isPrivileged } from "../driver/role.ts";
import { harmlessMentions, isDeniedInChange, type Mention } from "./functions.ts";
import {
  commandName,
  listOf,
  namesOf,
  only,
  parseSql,
  quotedName,
  relationName,
  type Tree,
  treeOf,
  walk,
} from "./syntax.ts";

/** A statement that can't be undone, so the user is asked. */
export interface Loss {
  /** Its text. */
  readonly what: string;
  /** The quoted names of the relations that it changes, drops or truncates. */
  readonly relations: readonly string[];
  /** Nothing is lost if none of the relations exists, or if none has rows; their rows are counted. */
  readonly losesNothingWithout?: "relations" | "rows";
}

export interface Change {
  readonly sql: string;
  readonly command: string;
  readonly loss: Loss | undefined;
  /** Whether it is CREATE OR REPLACE, so that the user is asked if it has replaced something. */
  readonly replaces: boolean;
  /** What it may reach, for the `FunctionGate`. */
  readonly mentions: readonly Mention[];
  /** The quoted tables named in a DELETE or UPDATE. */
  readonly targets: readonly { readonly verb: "DELETE" | "UPDATE"; readonly relation: string }[];
  /** Whether it only reads and changes rows. */
  readonly changesRows: boolean;
  /** The quoted name of the table that it creates. */
  readonly creates: string | undefined;
  /** The table whose rows it changes, and the statement with where it finds them in additional columns of RETURNING. */
  readonly located: { readonly relation: string; readonly sql: string } | undefined;
  /** Set if PostgreSQL only runs it outside a transaction (VACUUM, CREATE INDEX CONCURRENTLY), with its relation. */
  readonly alone: { readonly relation: string | undefined } | undefined;
}

/** Statements that can't run inside our transaction, would end it, or have effects beyond this database. */
const REFUSED: readonly (readonly [statement: RegExp, hint: string])[] = [
  [/^Transaction/, "All statements of a call are one transaction: pass several."],
  [/^Copy/, "Use pg_export and pg_import_csv: they move data through files that you allowed."],
  [
    /^(Createdb|Dropdb|AlterDatabase|AlterSystem|(Create|Drop)TableSpace|(Create|Alter)Subscription|CreateUserMapping|Load|CheckPoint)/,
    "Ask the user to run it in psql: it changes more than this database, or how it connects to others.",
  ],
  [
    /^(VariableSet|Listen|Discard|Lock)/,
    "Each call has a clean session and takes the locks that it needs.",
  ],
  [/^(Prepare|Execute|Deallocate)/, "Pass values as params instead."],
  [/^(DeclareCursor|Fetch)/, "Use query, which reads in pages."],
];

/** Statements about roles, which need --allow-admin. */
const ADMINISTRATION = /^(CreateRole|AlterRole|AlterRoleSet|DropRole|GrantRole)Stmt$/;
/** Role attributes that this server never grants. */
const POWERS = /^(superuser|isreplication|bypassrls)$/;
/** Statements that only read and change rows, unless they call functions. */
const CHANGING_ROWS = /^(Select|Insert|Update|Delete|Merge|Explain|Call|Do)Stmt$/;
const CREATING = /^Create(TableAs)?Stmt$/;
/** Statements that need no question: they change rows, take a free name, add something or maintain what there is. All others ask. */
const PASSING =
  /^(Select|Insert|Update|Delete|Merge|Explain|Call|Do|Return|Notify|ConstraintsSet|Vacuum|Reindex|Create(TableAs|Schema|Seq|Enum|Range|Domain|Stats|Extension|Function|Trig|Role)?|CompositeType|View|Index|Define|Alter(Table|Enum|Domain))Stmt$/;
const ADDING = /^AT_Add(Column|Constraint|Identity)$/;

/**
 * Accepts one changing statement and determines what it would destroy.
 *
 * @param allowAdmin whether roles may be created, altered and dropped.
 * @throws ToolError `invalid`, or `denied` for statements that this tool does not run.
 */
export async function passWriting(sql: string, allowAdmin: boolean): Promise<Change> {
  const statements = (await parseSql(sql)).stmts ?? [];
  const [first] = statements;
  if (first === undefined || statements.length !== 1)
    throw new ToolError("invalid", `One item has ${statements.length} statements.`, {
      hint: "Pass them as separate items of statements; they still run in one transaction.",
    });
  const [kind, statement] = only(treeOf(first.stmt));
  // Without what follows its semicolon; the parser counts bytes.
  const { stmt_location: from = 0, stmt_len: length } = first;
  const text = Buffer.from(sql).toString("utf8", from, length && from + length);
  const mentions = new Set<Mention>();
  const targets: Change["targets"][number][] = [];
  let asks = false;
  walk({ [kind]: statement }, (key, value) => {
    const hint = key.endsWith("Stmt") && REFUSED.find(([pattern]) => pattern.test(key))?.[1];
    if (hint) throw denied(`${commandName(key)} is not allowed here.`, hint);
    for (const mention of harmlessMentions(key, value, isDeniedInChange)) mentions.add(mention);
    const node = treeOf(value);
    if (ADMINISTRATION.test(key)) requireAllowAdmin(key, node, allowAdmin);
    asks ||= needsQuestion(key, node);
    if (key === "DoStmt") mentions.add(`block ${codeOf(node)}`);
    const verb = key === "DeleteStmt" ? "DELETE" : key === "UpdateStmt" ? "UPDATE" : undefined;
    const relation = relationName(node.relation);
    if (verb !== undefined && relation !== undefined) targets.push({ verb, relation });
  });
  return {
    sql,
    command: commandName(kind),
    loss: asks ? { what: shownSql(text), ...relationsOf(kind, statement) } : undefined,
    replaces: !asks && statement.replace === true,
    mentions: [...mentions],
    targets,
    changesRows: CHANGING_ROWS.test(kind),
    creates: CREATING.test(kind)
      ? relationName(statement.relation ?? treeOf(statement.into).rel)
      : undefined,
    located: locatedOf(kind, statement, text),
    alone: aloneOf(kind, statement),
  };
}

function locatedOf(kind: string, node: Tree, text: string): Change["located"] {
  const relation = relationName(node.relation);
  if (relation === undefined || !/^(Insert|Update|Delete)Stmt$/.test(kind)) return undefined;
  const { alias, relname } = treeOf(node.relation);
  const name = quoteIdentifier(String(treeOf(alias).aliasname ?? relname));
  // RETURNING is always the last clause; a comment may end the text.
  const clause = node.returningClause === undefined ? "RETURNING" : ",";
  return { relation, sql: `${text}\n${clause} ${name}.tableoid, ${name}.ctid` };
}

function aloneOf(kind: string, node: Tree): Change["alone"] {
  if (kind === "VacuumStmt")
    return node.is_vacuumcmd === true ? { relation: undefined } : undefined;
  const isConcurrent =
    kind === "ReindexStmt"
      ? optionsOf(node.params).some(({ defname }) => defname === "concurrently")
      : (kind === "IndexStmt" || kind === "DropStmt") && node.concurrent === true;
  if (!isConcurrent) return undefined;
  return { relation: relationsOf(kind, node).relations[0] };
}

/** @throws ToolError `denied` without --allow-admin, and for roles with access beyond their database. */
function requireAllowAdmin(key: string, node: Tree, allowAdmin: boolean): void {
  if (!allowAdmin)
    throw denied(`${commandName(key)} is not allowed here.`, "Managing roles needs --allow-admin.");
  walk(node, (name, value) => {
    const { defname, arg } = treeOf(value);
    const isPrivilege = name === "DefElem" && POWERS.test(String(defname)) && isTrue(arg);
    if (isPrivilege || (typeof value === "string" && isPrivileged(value)))
      throw denied(
        `${commandName(key)} with ${isPrivilege ? String(defname) : value} is not allowed here.`,
        "Ask the user to create roles with access beyond the database in psql.",
      );
  });
}

/** Whether a part of a statement may lose or weaken something that is not recorded. */
function needsQuestion(key: string, node: Tree): boolean {
  if (key === "AlterTableCmd") return !ADDING.test(String(node.subtype));
  if (!/^[A-Z]\w*Stmt$/.test(key)) return false;
  if (key === "AlterEnumStmt") return node.oldVal !== undefined;
  if (key === "AlterDomainStmt") return node.subtype !== "C";
  // A function with its owner's rights, and a role that is a member of others.
  const isStronger = optionsOf(node.options).some(
    ({ defname, arg }) => defname === "addroleto" || (defname === "security" && isTrue(arg)),
  );
  return !PASSING.test(key) || (/^Create(Function|Role)Stmt$/.test(key) && isStronger);
}

/** The code of a DO statement. What is not in SQL or PL/pgSQL can't be checked. */
function codeOf({ args }: Tree): string {
  const values = new Map(
    listOf(args).map((arg) => {
      const { defname, arg: value } = treeOf(treeOf(arg).DefElem);
      return [defname, treeOf(treeOf(value).String).sval];
    }),
  );
  const language = String(values.get("language") ?? "plpgsql").toLowerCase();
  return /^(plpgsql|sql)$/.test(language) ? String(values.get("as")) : "EXECUTE language";
}

/** Relations, which are looked up by name before they are dropped. */
const RELATIONS = /^OBJECT_(TABLE|MATVIEW|VIEW|INDEX|SEQUENCE|FOREIGN_TABLE)$/;

/** The relations that a statement changes, drops or truncates. */
function relationsOf(kind: string, node: Tree): Omit<Loss, "what"> {
  if (kind === "TruncateStmt") {
    const relations = listOf(node.relations).flatMap(
      (item) => relationName(treeOf(item).RangeVar) ?? [],
    );
    // With CASCADE, others may have rows.
    const isAlone = node.behavior !== "DROP_CASCADE";
    return { relations, losesNothingWithout: isAlone ? "rows" : "relations" };
  }
  if (kind !== "DropStmt") return { relations: [relationName(node.relation) ?? []].flat() };
  if (!RELATIONS.test(String(node.removeType))) return { relations: [] };
  const relations = listOf(node.objects).map((item) =>
    quotedName(namesOf(treeOf(treeOf(item).List).items)),
  );
  return { relations, losesNothingWithout: "relations" };
}

const optionsOf = (list: unknown): Tree[] =>
  listOf(list).map((option) => treeOf(treeOf(option).DefElem));

const isTrue = (arg: unknown) => treeOf(treeOf(arg).Boolean).boolval === true;

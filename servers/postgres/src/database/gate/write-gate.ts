import { ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier } from "@refmcp/sql";
import { isPrivileged } from "../connection/role.ts";
import { weakenedBy } from "./fences.ts";
import { denied, requireHarmlessCalls } from "./gate.ts";
import { parseSql } from "./parser.ts";
import { commandName, listOf, namesOf, only, relationName, type Tree, treeOf, walk } from "./tree.ts";

/** What a statement destroys in addition to rows. */
export interface Loss {
  /** `DROP TABLE users`, `DROP COLUMN name`. */
  readonly what: string;
  /** Quoted names of the dropped or truncated relations, whose rows are counted. */
  readonly relations: readonly string[];
  /** Nothing is lost if none of the relations exists, or if none has rows. */
  readonly losesNothingWithout?: "relations" | "rows";
  /** Whether the definition alone restores it. */
  readonly isUndoable?: boolean;
}

/** The table named in a DELETE or UPDATE. */
export interface RowTarget {
  readonly verb: "DELETE" | "UPDATE";
  /** Quoted. */
  readonly relation: string;
}

/** An accepted statement. */
export interface Change {
  readonly sql: string;
  /** `INSERT`, `CREATE TABLE`, … */
  readonly command: string;
  readonly losses: readonly Loss[];
  /** What it does to protections: `GRANT ALL on "profiles" to PUBLIC`. */
  readonly fences: readonly string[];
  readonly targets: readonly RowTarget[];
  /** Whether it only reads and changes rows. */
  readonly changesRows: boolean;
  /** The quoted name of the table that it creates. */
  readonly creates: string | undefined;
  /** Set if PostgreSQL only runs it outside a transaction (VACUUM, CREATE INDEX CONCURRENTLY), with its relation. */
  readonly alone: { readonly relation: string | undefined } | undefined;
}

/** Statements that can't run inside our transaction, would end it, or have effects beyond this database. */
const REFUSED: Readonly<Record<string, string>> = {
  TransactionStmt: "This tool manages the transaction: pass several statements to run them in one.",
  CopyStmt: "Use pg_export and pg_import_csv: they move data through files that you allowed.",
  AlterSystemStmt: "Ask the user to change the server's configuration.",
  CreatedbStmt: "Ask the user to create or drop databases in psql.",
  DropdbStmt: "Ask the user to create or drop databases in psql.",
  AlterDatabaseStmt: "Ask the user to change databases in psql.",
  AlterDatabaseSetStmt: "Ask the user to change databases in psql.",
  CreateTableSpaceStmt: "Ask the user to manage tablespaces.",
  DropTableSpaceStmt: "Ask the user to manage tablespaces.",
  CreateSubscriptionStmt: "Subscriptions connect to other servers; ask the user to create them.",
  AlterSubscriptionStmt: "Subscriptions connect to other servers; ask the user to change them.",
  CreateUserMappingStmt: "User mappings contain passwords; ask the user to create them.",
  LoadStmt: "Ask the user to load libraries.",
  VariableSetStmt: "Settings last only for this call; omit SET.",
  PrepareStmt: "Pass values as params instead.",
  ExecuteStmt: "Pass values as params instead.",
  DeallocateStmt: "Pass values as params instead.",
  DeclareCursorStmt: "Use query, which reads in pages.",
  FetchStmt: "Use query, which reads in pages.",
  ListenStmt: "Subscribe to a resource instead.",
  DiscardStmt: "Each call starts with a clean session.",
  CheckPointStmt: "Ask the user to run CHECKPOINT.",
  LockStmt: "Statements take the locks that they need.",
};

/** Statements about roles, which need --allow-admin. */
const ADMINISTRATION: ReadonlySet<string> = new Set(
  ["CreateRole", "AlterRole", "AlterRoleSet", "DropRole", "GrantRole"].map((kind) => `${kind}Stmt`),
);

/** Role attributes that this server never grants. */
const POWERS: ReadonlySet<unknown> = new Set(["superuser", "isreplication", "bypassrls"]);

/** Statements that only read and change rows, unless they call functions. */
const CHANGING_ROWS: ReadonlySet<string> = new Set(
  ["Select", "Insert", "Update", "Delete", "Merge", "Explain"].map((kind) => `${kind}Stmt`),
);
const CREATING: ReadonlySet<string> = new Set(["CreateStmt", "CreateTableAsStmt"]);

const WRITING_MAY_CALL: ReadonlySet<string> = new Set(["nextval", "setval", "pg_notify"]);

/**
 * Accepts one changing statement and determines what it would destroy.
 *
 * @param allowAdmin whether roles may be created, altered and dropped.
 * @throws ToolError `invalid`, or `denied` for statements that this tool does not run.
 */
export async function passWriting(sql: string, allowAdmin: boolean): Promise<Change> {
  const statements = (await parseSql(sql)).stmts ?? [];
  if (statements.length !== 1)
    throw new ToolError("invalid", `One item has ${statements.length} statements.`, {
      hint: "Pass them as separate items of statements; they still run in one transaction.",
    });
  const [kind, statement] = only(treeOf(statements[0]?.stmt));
  const losses: Loss[] = [];
  const fences: string[] = [];
  const targets: RowTarget[] = [];
  walk({ [kind]: statement }, (key, value) => {
    const reason = key.endsWith("Stmt") ? REFUSED[key] : undefined;
    if (reason !== undefined) throw denied(`${commandName(key)} is not allowed here.`, reason);
    requireHarmlessCalls(key, value, WRITING_MAY_CALL);
    const node = treeOf(value);
    if (ADMINISTRATION.has(key)) requireAllowAdmin(key, node, allowAdmin);
    const loss = lossOf(key, node);
    if (loss !== undefined) losses.push(loss);
    const weakened = weakenedBy(key, node);
    if (weakened !== undefined) fences.push(weakened);
    const relation = key === "DeleteStmt" || key === "UpdateStmt" ? relationName(node.relation) : undefined;
    if (relation !== undefined) targets.push({ verb: key === "DeleteStmt" ? "DELETE" : "UPDATE", relation });
  });
  return {
    sql,
    command: commandName(kind),
    losses,
    fences,
    targets,
    changesRows: CHANGING_ROWS.has(kind),
    creates: CREATING.has(kind) ? relationName(statement.relation ?? treeOf(statement.into).rel) : undefined,
    alone: aloneOf(kind, statement),
  };
}

function aloneOf(kind: string, node: Tree): Change["alone"] {
  if (kind === "VacuumStmt") return node.is_vacuumcmd === true ? { relation: undefined } : undefined;
  const isConcurrent =
    kind === "ReindexStmt"
      ? listOf(node.params).some((one) => treeOf(treeOf(one).DefElem).defname === "concurrently")
      : (kind === "IndexStmt" || kind === "DropStmt") && node.concurrent === true;
  if (!isConcurrent) return undefined;
  return { relation: kind === "DropStmt" ? dropped(node).relations[0] : relationName(node.relation) };
}

/** @throws ToolError `denied` without --allow-admin, and for roles with access beyond their database. */
function requireAllowAdmin(key: string, node: Tree, allowAdmin: boolean): void {
  if (!allowAdmin)
    throw denied(`${commandName(key)} is not allowed here.`, "Managing roles needs --allow-admin.");
  walk(node, (name, value) => {
    const { defname, arg } = treeOf(value);
    const isPrivilege =
      name === "DefElem" && POWERS.has(defname) && treeOf(treeOf(arg).Boolean).boolval === true;
    if (isPrivilege || (typeof value === "string" && isPrivileged(value)))
      throw denied(
        `${commandName(key)} with ${isPrivilege ? String(defname) : value} is not allowed here.`,
        "Ask the user to create roles with access beyond the database in psql.",
      );
  });
}

function lossOf(key: string, node: Tree): Loss | undefined {
  switch (key) {
    case "DropStmt":
      return dropped(node);
    case "TruncateStmt": {
      const relations = listOf(node.relations).flatMap((item) => relationName(treeOf(item).RangeVar) ?? []);
      const what = `TRUNCATE ${relations.join(", ")}${cascading(node)}`;
      return { what, relations, ...(cascading(node) === "" ? { losesNothingWithout: "rows" } : {}) };
    }
    case "AlterTableCmd":
      return altered(node);
    case "DropOwnedStmt":
      return { what: "DROP OWNED", relations: [] };
    case "DropRoleStmt":
    case "AlterRoleStmt": {
      const roles = [node.role, ...listOf(node.roles)].map(
        (one) => treeOf(treeOf(one).RoleSpec ?? one).rolename,
      );
      const names = roles.flatMap((name) => (typeof name === "string" ? quoteIdentifier(name) : []));
      return { what: `${commandName(key)} ${names.join(", ")}`, relations: [] };
    }
    case "DoStmt":
      return { what: "DO, a block of code with unpredictable effects", relations: [] };
    case "CallStmt":
      return { what: "CALL of a procedure with unpredictable effects", relations: [] };
    default:
      return undefined;
  }
}

/** Relations, which are looked up by name before they are dropped. */
const RELATIONS: ReadonlySet<unknown> = new Set(
  ["TABLE", "MATVIEW", "VIEW", "INDEX", "SEQUENCE", "FOREIGN_TABLE"].map((kind) => `OBJECT_${kind}`),
);
const UNDOABLE: ReadonlySet<unknown> = new Set(["OBJECT_VIEW", "OBJECT_INDEX"]);

function dropped(node: Tree): Loss {
  const kind = String(node.removeType ?? "")
    .replace(/^OBJECT_/, "")
    .replace("MATVIEW", "MATERIALIZED VIEW");
  const names = listOf(node.objects).map((item) => {
    const tree = treeOf(item);
    const parts = namesOf(treeOf(tree.List).items);
    const bare = treeOf(tree.String).sval;
    const named = namesOf(treeOf(tree.ObjectWithArgs).objname).concat(namesOf(treeOf(tree.TypeName).names));
    return [...parts, ...(typeof bare === "string" ? [bare] : []), ...named].map(quoteIdentifier).join(".");
  });
  return {
    what: `DROP ${kind.replaceAll("_", " ")} ${names.join(", ")}${cascading(node)}`,
    relations: RELATIONS.has(node.removeType) ? names : [],
    losesNothingWithout: "relations",
    isUndoable: UNDOABLE.has(node.removeType) && cascading(node) === "",
  };
}

function altered(node: Tree): Loss | undefined {
  const name = typeof node.name === "string" ? quoteIdentifier(node.name) : "";
  const what: Readonly<Record<string, string>> = {
    AT_DropColumn: `DROP COLUMN ${name} with its contents`,
    AT_AlterColumnType: `type change of ${name}, which may round or truncate values`,
    AT_DropConstraint: `DROP CONSTRAINT ${name}`,
    AT_DropExpression: `DROP EXPRESSION of ${name}`,
    AT_DetachPartition: "DETACH PARTITION",
  };
  const found = what[String(node.subtype)];
  return found === undefined ? undefined : { what: `${found}${cascading(node)}`, relations: [] };
}

function cascading(node: Tree): string {
  return node.behavior === "DROP_CASCADE" ? " CASCADE" : "";
}

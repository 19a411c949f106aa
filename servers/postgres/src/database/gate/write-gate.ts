import { ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier } from "@refmcp/sql";
import { isPrivileged } from "../connection/role.ts";
import { denied } from "../errors.ts";
import { harmlessMentions, isDeniedInChange } from "./functions.ts";
import {
  commandName,
  listOf,
  namesOf,
  only,
  parseSql,
  quotedName,
  relationName,
  type Tree,
  textOf,
  treeOf,
  walk,
} from "./syntax.ts";

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

export interface Change {
  readonly sql: string;
  readonly command: string;
  readonly losses: readonly Loss[];
  /** The protections that it weakens: `GRANT ALL on "profiles" to PUBLIC`. */
  readonly weakened: readonly string[];
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
const ADMINISTRATION = /^(CreateRole|AlterRole|AlterRoleSet|DropRole|GrantRole)Stmt$/;
/** Role attributes that this server never grants. */
const POWERS = /^(superuser|isreplication|bypassrls)$/;
/** Statements that only read and change rows, unless they call functions. */
const CHANGING_ROWS = /^(Select|Insert|Update|Delete|Merge|Explain|Call|Do)Stmt$/;
const CREATING = /^Create(TableAs)?Stmt$/;

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
  const losses: Loss[] = [];
  const weakened: string[] = [];
  const targets: Change["targets"][number][] = [];
  walk({ [kind]: statement }, (key, value) => {
    const reason = key.endsWith("Stmt") ? REFUSED[key] : undefined;
    if (reason !== undefined) throw denied(`${commandName(key)} is not allowed here.`, reason);
    harmlessMentions(key, value, isDeniedInChange);
    const node = treeOf(value);
    if (ADMINISTRATION.test(key)) requireAllowAdmin(key, node, allowAdmin);
    losses.push(...[LOSSES[key]?.(node) ?? []].flat());
    weakened.push(...[WEAKENED[key]?.(node) || []].flat());
    const verb = key === "DeleteStmt" ? "DELETE" : key === "UpdateStmt" ? "UPDATE" : undefined;
    const relation = relationName(node.relation);
    if (verb !== undefined && relation !== undefined) targets.push({ verb, relation });
  });
  return {
    sql,
    command: commandName(kind),
    losses,
    weakened,
    targets,
    changesRows: CHANGING_ROWS.test(kind),
    creates: CREATING.test(kind)
      ? relationName(statement.relation ?? treeOf(statement.into).rel)
      : undefined,
    located: locatedOf(kind, statement, textOf(Buffer.from(sql), first)),
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
  return {
    relation: kind === "DropStmt" ? dropped(node).relations[0] : relationName(node.relation),
  };
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

/** What the parts of a statement destroy in addition to rows. */
const LOSSES: Readonly<Record<string, (node: Tree) => Loss | undefined>> = {
  DropStmt: dropped,
  TruncateStmt(node) {
    const relations = listOf(node.relations).flatMap(
      (item) => relationName(treeOf(item).RangeVar) ?? [],
    );
    const what = `TRUNCATE ${relations.join(", ")}${cascading(node)}`;
    return { what, relations, ...(cascading(node) === "" ? { losesNothingWithout: "rows" } : {}) };
  },
  AlterTableCmd: altered,
  DropOwnedStmt: () => ({ what: "DROP OWNED", relations: [] }),
  DropRoleStmt: ({ roles }) => ({ what: `DROP ROLE ${rolesOf(roles).join(", ")}`, relations: [] }),
  AlterRoleStmt: ({ role }) => ({
    what: `ALTER ROLE ${rolesOf([role]).join(", ")}`,
    relations: [],
  }),
  DoStmt: () => ({ what: "DO, a block of code with unpredictable effects", relations: [] }),
  AlterSeqStmt: ({ sequence, options }) =>
    optionsOf(options).some(({ defname }) => defname === "restart")
      ? { what: `ALTER SEQUENCE ${relationName(sequence)} RESTART`, relations: [] }
      : undefined,
};

/** Relations, which are looked up by name before they are dropped. */
const RELATIONS = /^OBJECT_(TABLE|MATVIEW|VIEW|INDEX|SEQUENCE|FOREIGN_TABLE)$/;
const UNDOABLE = /^OBJECT_(VIEW|INDEX)$/;

function dropped(node: Tree): Loss {
  const type = String(node.removeType ?? "");
  const kind = type
    .replace(/^OBJECT_/, "")
    .replace("MATVIEW", "MATERIALIZED VIEW")
    .replaceAll("_", " ");
  const names = listOf(node.objects).map((item) => {
    const { List, String: bare, ObjectWithArgs, TypeName } = treeOf(item);
    const { sval } = treeOf(bare);
    if (typeof sval === "string") return quoteIdentifier(sval);
    const lists = [treeOf(List).items, treeOf(ObjectWithArgs).objname, treeOf(TypeName).names];
    return quotedName(lists.flatMap(namesOf));
  });
  return {
    what: `DROP ${kind} ${names.join(", ")}${cascading(node)}`,
    relations: RELATIONS.test(type) ? names : [],
    losesNothingWithout: "relations",
    isUndoable: UNDOABLE.test(type) && cascading(node) === "",
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

const cascading = (node: Tree) => (node.behavior === "DROP_CASCADE" ? " CASCADE" : "");

const optionsOf = (list: unknown): Tree[] => listOf(list).map((one) => treeOf(treeOf(one).DefElem));

const isTrue = (arg: unknown) => treeOf(treeOf(arg).Boolean).boolval === true;

/** Commands of ALTER TABLE that switch a protection off. */
const SWITCHED_OFF: Readonly<Record<string, string>> = {
  AT_DisableRowSecurity: "DISABLE ROW LEVEL SECURITY",
  AT_NoForceRowSecurity: "NO FORCE ROW LEVEL SECURITY",
  AT_DisableTrig: "DISABLE TRIGGER",
  AT_DisableTrigAll: "DISABLE TRIGGER ALL",
  AT_DisableTrigUser: "DISABLE TRIGGER USER",
  AT_EnableReplicaTrig: "ENABLE REPLICA TRIGGER, which turns it off in ordinary sessions,",
  AT_DisableRule: "DISABLE RULE",
  AT_EnableReplicaRule: "ENABLE REPLICA RULE, which turns it off in ordinary sessions,",
  AT_DropNotNull: "DROP NOT NULL",
  AT_AlterConstraint: "ALTER CONSTRAINT",
  AT_ChangeOwner: "OWNER",
};

/**
 * The protections that the parts of a statement weaken: they give others access, or turn off what checks or limits it. Each
 * returns `GRANT on "profiles" to PUBLIC`; undefined if it weakens nothing.
 */
const WEAKENED: Readonly<Record<string, (node: Tree) => string | undefined | false>> = {
  GrantStmt: (node) => granted(node, objectsOf(node)),
  AlterDefaultPrivilegesStmt: (node) => granted(treeOf(node.action), "objects created later"),
  GrantRoleStmt(node) {
    const roles = listOf(node.granted_roles).map((one) => treeOf(treeOf(one).AccessPriv).priv_name);
    return (
      node.is_grant === true &&
      `GRANT of the role ${roles.join(", ")} to ${rolesOf(node.grantee_roles).join(", ")}`
    );
  },
  CreateRoleStmt: ({ options, role }) =>
    optionsOf(options).some(({ defname }) => defname === "addroleto") &&
    `CREATE ROLE ${role} as a member of others`,
  AlterRoleSetStmt: ({ role }) => `ALTER ROLE ${rolesOf([role]).join("") || "ALL"} SET`,
  AlterTableStmt: switchedOff,
  AlterDomainStmt: ({ subtype, typeName }) =>
    (subtype === "X" || subtype === "N") &&
    `DROP of a constraint of the domain ${namesOf(typeName).join(".")}`,
  AlterOwnerStmt: ({ objectType, object, newowner }) =>
    `${kindOf(objectType)} ${objectName(object)}: owner ${rolesOf([newowner]).join("")}`,
  ReassignOwnedStmt: ({ roles, newrole }) =>
    `REASSIGN OWNED BY ${rolesOf(roles).join(", ")} to ${rolesOf([newrole]).join("")}`,
  CreatePolicyStmt: (node) =>
    node.permissive === true && `CREATE POLICY ${policyOf(node)}, which allows more rows`,
  AlterPolicyStmt: (node) => `ALTER POLICY ${policyOf(node)}`,
  CreateFunctionStmt: ({ options, funcname }) => definer(options, quotedName(namesOf(funcname))),
  AlterFunctionStmt: ({ actions, func }) => definer(actions, objectName({ ObjectWithArgs: func })),
  AlterEventTrigStmt: ({ tgenabled, trigname }) =>
    tgenabled !== "O" && tgenabled !== "A" && `EVENT TRIGGER ${trigname} off`,
};

function granted(node: Tree, on: string): string | undefined {
  const grantees = rolesOf(node.grantees);
  if (node.is_grant !== true || grantees.length === 0) return undefined;
  const privileges = listOf(node.privileges).map((one) =>
    String(treeOf(treeOf(one).AccessPriv).priv_name).toUpperCase(),
  );
  return `GRANT ${privileges.join(", ") || "ALL"} on ${on} to ${grantees.join(", ")}`;
}

/** The roles of a list; not the current role, which keeps what it has. */
function rolesOf(list: unknown): string[] {
  return listOf(list).flatMap((one) => {
    const { roletype, rolename } = treeOf(treeOf(one).RoleSpec ?? one);
    if (roletype === "ROLESPEC_PUBLIC") return ["PUBLIC"];
    return typeof rolename === "string" ? [quoteIdentifier(rolename)] : [];
  });
}

function objectsOf(node: Tree): string {
  const names = listOf(node.objects).map(objectName).join(", ");
  const kind = kindOf(node.objtype);
  if (node.targtype === "ACL_TARGET_ALL_IN_SCHEMA") return `every ${kind} in ${names}`;
  return kind === "table" ? names : `${kind} ${names}`;
}

/** `OBJECT_FOREIGN_TABLE` → `foreign table`. */
const kindOf = (type: unknown) =>
  String(type).replace("OBJECT_", "").replaceAll("_", " ").toLowerCase();

function objectName(object: unknown): string {
  const [, content] = only(treeOf(object));
  const { sval, items, objname } = content;
  const names = typeof sval === "string" ? [sval] : namesOf(items ?? objname);
  return relationName(content) ?? quotedName(names);
}

const policyOf = ({ policy_name, table }: Tree) =>
  `${quoteIdentifier(String(policy_name))} on ${relationName(table) ?? ""}`;

function definer(options: unknown, name: string): string | undefined {
  const isDefiner = optionsOf(options).some(
    ({ defname, arg }) => defname === "security" && isTrue(arg),
  );
  return isDefiner
    ? `SECURITY DEFINER function ${name}, which runs with its owner's rights`
    : undefined;
}

function switchedOff(node: Tree): string | undefined {
  const found = listOf(node.cmds).flatMap((one) => {
    const { subtype, name, newowner, def } = treeOf(treeOf(one).AlterTableCmd);
    const kind = String(subtype);
    const what = SWITCHED_OFF[kind];
    const named = typeof name === "string" ? [quoteIdentifier(name)] : [];
    if (what !== undefined) return [[what, ...named, ...rolesOf([newowner])].join(" ")];
    if (kind !== "AT_SetRelOptions" && kind !== "AT_ResetRelOptions") return [];
    // Options that make a view respect the row security of its tables.
    return optionsOf(treeOf(treeOf(def).List).items).flatMap(({ defname, arg }) =>
      /^security_/.test(String(defname)) && (kind === "AT_ResetRelOptions" || !isOn(arg))
        ? [`${defname} off`]
        : [],
    );
  });
  return found.length === 0
    ? undefined
    : `${found.join(", ")} for ${relationName(node.relation) ?? ""}`;
}

/** Whether the value of an option turns it on; none does. */
function isOn(arg: unknown): boolean {
  const [kind = "", value] = only(treeOf(arg));
  return (
    kind === "" || /^(true|on|yes|1)$/i.test(String(value.sval ?? value.boolval ?? value.ival))
  );
}

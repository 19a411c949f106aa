import { quoteIdentifier } from "@refmcp/sql";
import { listOf, namesOf, only, relationName, type Tree, treeOf } from "./tree.ts";

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

/** Options of a view that make it respect the row security of its tables. */
const GUARDING_OPTIONS = /^security_/;

/**
 * What a part of a statement does to protections: it gives others access, or turns off what checks or limits it.
 *
 * @returns `GRANT on "profiles" to PUBLIC`; undefined if it weakens nothing
 */
export function weakenedBy(key: string, node: Tree): string | undefined {
  switch (key) {
    case "GrantStmt":
      return granted(node, objectsOf(node));
    case "AlterDefaultPrivilegesStmt":
      return granted(treeOf(node.action), "objects created later");
    case "GrantRoleStmt": {
      if (node.is_grant !== true) return undefined;
      const roles = listOf(node.granted_roles).map((one) => treeOf(treeOf(one).AccessPriv).priv_name);
      return `GRANT of the role ${roles.join(", ")} to ${rolesOf(node.grantee_roles).join(", ")}`;
    }
    case "CreateRoleStmt": {
      const options = listOf(node.options).map((one) => treeOf(treeOf(one).DefElem).defname);
      return options.includes("addroleto")
        ? `CREATE ROLE ${String(node.role)} as a member of others`
        : undefined;
    }
    case "AlterRoleSetStmt":
      return `ALTER ROLE ${rolesOf([node.role]).join("") || "ALL"} SET`;
    case "AlterTableStmt":
      return altered(node);
    case "AlterDomainStmt":
      return node.subtype === "X" || node.subtype === "N"
        ? `DROP of a constraint of the domain ${namesOf(node.typeName).join(".")}`
        : undefined;
    case "AlterOwnerStmt":
      return `${kindOf(node.objectType)} ${objectName(node.object)}: owner ${rolesOf([node.newowner]).join("")}`;
    case "ReassignOwnedStmt":
      return `REASSIGN OWNED BY ${rolesOf(node.roles).join(", ")} to ${rolesOf([node.newrole]).join("")}`;
    case "CreatePolicyStmt":
      return node.permissive === true ? `CREATE POLICY ${policyOf(node)}, which allows more rows` : undefined;
    case "AlterPolicyStmt":
      return `ALTER POLICY ${policyOf(node)}`;
    case "CreateFunctionStmt":
      return definer(node.options, namesOf(node.funcname).map(quoteIdentifier).join("."));
    case "AlterFunctionStmt":
      return definer(node.actions, objectName({ ObjectWithArgs: node.func }));
    case "AlterEventTrigStmt":
      return node.tgenabled === "O" || node.tgenabled === "A"
        ? undefined
        : `EVENT TRIGGER ${String(node.trigname)} off`;
    default:
      return undefined;
  }
}

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

/** `OBJECT_MATVIEW` → `matview`. */
const kindOf = (type: unknown) =>
  String(type)
    .replace(/^OBJECT_/, "")
    .replaceAll("_", " ")
    .toLowerCase();

function objectName(object: unknown): string {
  const [, content] = only(treeOf(object));
  const { sval, items, objname } = content;
  const names = typeof sval === "string" ? [sval] : namesOf(items ?? objname);
  return relationName(content) ?? names.map(quoteIdentifier).join(".");
}

const policyOf = ({ policy_name, table }: Tree) =>
  `${quoteIdentifier(String(policy_name))} on ${relationName(table) ?? ""}`;

function definer(options: unknown, name: string): string | undefined {
  const isDefiner = listOf(options).some((one) => {
    const { defname, arg } = treeOf(treeOf(one).DefElem);
    return defname === "security" && treeOf(treeOf(arg).Boolean).boolval === true;
  });
  return isDefiner ? `SECURITY DEFINER function ${name}, which runs with its owner's rights` : undefined;
}

function altered(node: Tree): string | undefined {
  const found = listOf(node.cmds).flatMap((one) => {
    const { subtype, name, newowner, def } = treeOf(treeOf(one).AlterTableCmd);
    const kind = String(subtype);
    const what = SWITCHED_OFF[kind];
    if (what !== undefined) return [[what, ...named(name), ...rolesOf([newowner])].join(" ")];
    if (kind !== "AT_SetRelOptions" && kind !== "AT_ResetRelOptions") return [];
    const options = listOf(treeOf(treeOf(def).List).items).map((option) => treeOf(treeOf(option).DefElem));
    return options.flatMap(({ defname, arg }) =>
      GUARDING_OPTIONS.test(String(defname)) && (kind === "AT_ResetRelOptions" || !isOn(arg))
        ? [`${String(defname)} off`]
        : [],
    );
  });
  return found.length === 0 ? undefined : `${found.join(", ")} for ${relationName(node.relation) ?? ""}`;
}

const named = (name: unknown) => (typeof name === "string" ? [quoteIdentifier(name)] : []);

/** Whether the value of an option turns it on; none does. */
function isOn(arg: unknown): boolean {
  const [kind = "", value] = only(treeOf(arg));
  return kind === "" || /^(true|on|yes|1)$/i.test(String(value.sval ?? value.boolval ?? value.ival));
}

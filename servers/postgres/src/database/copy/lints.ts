import { listOf, namesOf, relationName, type Tree, treeOf } from "../gate/syntax.ts";
import { type Facts, type Known, type Statement, shown } from "./rehearse.ts";

export interface Warning {
  readonly problem: string;
  readonly safer: string;
}

/** Whether it has rows, as far as is known; only changes of such tables take long or can fail. */
const hasRows = (table: Known | undefined) => {
  const size = table?.size;
  return size !== undefined && size.rows !== 0 && size.pages > 0;
};

/** Whether it names or locks a table with rows. */
const meetsRows = ({ target, locks }: Facts) => [target, ...locks].some(hasRows);

/** A warning about work on a table with rows, if there was any. @param warning gets the table with its size */
function onWork(
  facts: Facts,
  what: Facts["work"][number]["what"],
  warning: (on: string) => Warning,
): Warning | undefined {
  const done = facts.work.find((one) => one.what === what && hasRows(one));
  return done && warning(shown(done));
}

const LATER = "then, in another transaction, ";
const IN_LATER_RELEASE = "Drop it in a later release than the code that uses it";
const concurrently = (sql: string) => `${sql.replace(/\bINDEX\b/i, "INDEX CONCURRENTLY")}, alone`;
const waitingWrites = (safer: string) => (on: string) => ({
  problem: `Writes to ${on} wait until the index is built.`,
  safer,
});

/** A warning about a statement or a part of an ALTER TABLE. @param table the one that the statement names */
type Lint = (node: Tree, facts: Facts, table: string, sql: string) => Warning | false | undefined;

const changesAll: Lint = ({ whereClause }, _, table) =>
  whereClause === undefined && {
    problem: `Every row of ${table} is changed in one transaction, which keeps them locked.`,
    safer: "Change rows in batches, each in its own transaction",
  };

/** By the kind of the statement, or the kind of the part of an ALTER TABLE. */
const LINTS: Readonly<Record<string, Lint>> = {
  AT_AddColumn({ def }, facts, table) {
    const { colname, constraints } = treeOf(treeOf(def).ColumnDef);
    const kinds = listOf(constraints).map((one) => String(treeOf(treeOf(one).Constraint).contype));
    const isFilled = kinds.some((kind) => /^CONSTR_(DEFAULT|IDENTITY|GENERATED)$/.test(kind));
    return (
      onWork(facts, "rewrites", (on) => ({
        problem: `The value of ${colname} differs from row to row, so ${on} is rewritten while nobody can read it.`,
        safer: `ALTER TABLE ${table} ADD COLUMN without the default; ${LATER}SET DEFAULT for new rows, and fill existing ones in batches`,
      })) ??
      (kinds.includes("CONSTR_NOTNULL") &&
        !isFilled &&
        meetsRows(facts) && {
          problem: `${colname} is NOT NULL and has no DEFAULT, which fails where the table has rows.`,
          safer:
            "Add a DEFAULT; or add the column without NOT NULL, fill it, and set NOT NULL later",
        })
    );
  },
  AT_AddConstraint({ def }, facts, table) {
    const { contype, conname = "NAME", keys } = treeOf(treeOf(def).Constraint);
    const kind = /^CONSTR_(UNIQUE|PRIMARY)$/
      .exec(String(contype))?.[1]
      ?.replace("PRIMARY", "PRIMARY KEY");
    const built = (on: string) => ({
      problem: `The index is built while nobody can read or write ${on}.`,
      safer: `CREATE UNIQUE INDEX CONCURRENTLY ${conname} ON ${table} (${namesOf(keys).join(", ")}) alone; ${LATER}ALTER TABLE ${table} ADD CONSTRAINT ${conname} ${kind} USING INDEX ${conname}`,
    });
    return (
      (kind === undefined ? undefined : onWork(facts, "builds", built)) ??
      onWork(facts, "scans", (on) => ({
        problem: `All rows of ${on} are checked while it is locked.`,
        safer: `Add NOT VALID; ${LATER}ALTER TABLE ${table} VALIDATE CONSTRAINT ${conname}`,
      }))
    );
  },
  AT_ValidateConstraint({ name }, { target, blocks, work }) {
    const scanned = work.find(
      (one) => one.what === "scans" && one.name === target?.name && hasRows(one),
    );
    return (
      scanned !== undefined &&
      blocks !== undefined && {
        problem: `All rows of ${shown(scanned)} are checked while the lock of an earlier statement ${blocks}.`,
        safer: `VALIDATE CONSTRAINT ${name} in another transaction: a second call of pg_execute`,
      }
    );
  },
  AT_SetNotNull: ({ name }, facts, table) =>
    onWork(facts, "scans", (on) => ({
      problem: `All rows of ${on} are checked while nobody can read it.`,
      safer: `ALTER TABLE ${table} ADD CONSTRAINT ${name}_set CHECK (${name} IS NOT NULL) NOT VALID; ${LATER}VALIDATE CONSTRAINT ${name}_set; then SET NOT NULL, which needs no scan, and DROP CONSTRAINT ${name}_set`,
    })),
  AT_AlterColumnType({ name }, facts) {
    const rewritten = (on: string) => ({
      problem: `The new type of ${name} rewrites ${on} and its indexes while nobody can read it.`,
      safer:
        "Add a new column, keep it in step with a trigger, fill it in batches, then swap the names",
    });
    return onWork(facts, "rewrites", rewritten) ?? onWork(facts, "builds", rewritten);
  },
  AT_DropColumn: ({ name }, facts) =>
    meetsRows(facts) && {
      problem: `The values of ${name} are lost, and code that still uses it fails.`,
      safer: IN_LATER_RELEASE,
    },
  AT_AttachPartition: (_, facts, table) =>
    onWork(facts, "scans", (on) => ({
      problem: `All rows of ${on} are checked against the bounds while ${table} is locked.`,
      safer:
        "First add a CHECK constraint with the bounds to the partition (NOT VALID, then VALIDATE)",
    })),
  IndexStmt({ concurrent }, facts, _, sql) {
    const safer =
      facts.target?.isPartitioned === true
        ? `${sql.replace(/\bON\b/i, "ON ONLY")}; then, for each partition, CREATE INDEX CONCURRENTLY, alone, and ALTER INDEX … ATTACH PARTITION`
        : concurrently(sql);
    return concurrent !== true && onWork(facts, "builds", waitingWrites(safer));
  },
  ReindexStmt: (_, facts) =>
    facts.locks.some(({ strength }) => strength > 0) &&
    onWork(facts, "builds", waitingWrites("REINDEX … CONCURRENTLY, alone")),
  DropStmt({ removeType, concurrent }, facts, _, sql) {
    if (removeType === "OBJECT_TABLE")
      return {
        problem: "The rows are lost, and code that still uses the table fails.",
        safer: IN_LATER_RELEASE,
      };
    return (
      removeType === "OBJECT_INDEX" &&
      concurrent !== true &&
      facts.locks.some(hasRows) && {
        problem: "Reads and writes of the table wait for this lock.",
        safer: facts.locks.some(({ isPartitioned }) => isPartitioned)
          ? "Keep the transaction short: a partitioned index can't be dropped CONCURRENTLY"
          : concurrently(sql),
      }
    );
  },
  RenameStmt: ({ renameType }) =>
    /^OBJECT_(TABLE|COLUMN|VIEW)$/.test(String(renameType)) && {
      problem: "Code that uses the old name fails as soon as this is committed.",
      safer:
        renameType === "OBJECT_COLUMN"
          ? "Add a new column and keep both in step until no code uses the old one"
          : "In the same transaction, create a view with the old name",
    },
  UpdateStmt: changesAll,
  DeleteStmt: changesAll,
};

/** What makes a statement risky on a table with rows, each with a safer way. */
export function lintsOf({ sql, kind, node }: Statement, facts: Facts): Warning[] {
  const commands = kind === "AlterTableStmt" ? listOf(node.cmds) : [];
  const parts = commands.map((one) => treeOf(treeOf(one).AlterTableCmd));
  const judged = [
    [kind, node] as const,
    ...parts.map((part) => [String(part.subtype), part] as const),
  ];
  const table = relationName(node.relation) ?? "";
  return judged.flatMap(([name, part]) => LINTS[name]?.(part, facts, table, sql) || []);
}

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

/** A warning about a part of an ALTER TABLE; undefined if there is nothing to say. */
type Judge = (command: Tree, facts: Facts, table: string) => Warning | false;

const worked = (facts: Facts, what: Facts["work"][number]["what"]) =>
  facts.work.find((one) => one.what === what && hasRows(one));
const LATER = "then, in another transaction, ";

const COMMANDS: Readonly<Record<string, Judge>> = {
  AT_AddColumn({ def }, facts, table) {
    const column = treeOf(treeOf(def).ColumnDef);
    const kinds = listOf(column.constraints).map((one) => treeOf(treeOf(one).Constraint).contype);
    const isFilled = kinds.some((kind) => /^CONSTR_(DEFAULT|IDENTITY|GENERATED)$/.test(String(kind)));
    const rewritten = worked(facts, "rewrites");
    if (rewritten !== undefined)
      return {
        problem: `The value of ${column.colname} differs from row to row, so ${shown(rewritten)} is rewritten while nobody can read it.`,
        safer: `ALTER TABLE ${table} ADD COLUMN without the default; ${LATER}SET DEFAULT for new rows, and fill existing ones in batches`,
      };
    return (
      kinds.includes("CONSTR_NOTNULL") &&
      !isFilled &&
      [facts.target, ...facts.locks].some(hasRows) && {
        problem: `${column.colname} is NOT NULL and has no DEFAULT, which fails where the table has rows.`,
        safer: "Add a DEFAULT; or add the column without NOT NULL, fill it, and set NOT NULL later",
      }
    );
  },
  AT_AddConstraint({ def }, facts, table) {
    const { contype, conname = "NAME", keys } = treeOf(treeOf(def).Constraint);
    const [scanned, built] = [worked(facts, "scans"), worked(facts, "builds")];
    if (built !== undefined && /^CONSTR_(UNIQUE|PRIMARY)$/.test(String(contype))) {
      const kind = contype === "CONSTR_UNIQUE" ? "UNIQUE" : "PRIMARY KEY";
      return {
        problem: `The index is built while nobody can read or write ${shown(built)}.`,
        safer: `CREATE UNIQUE INDEX CONCURRENTLY ${conname} ON ${table} (${namesOf(keys).join(", ")}) alone; ${LATER}ALTER TABLE ${table} ADD CONSTRAINT ${conname} ${kind} USING INDEX ${conname}`,
      };
    }
    return (
      scanned !== undefined && {
        problem: `All rows of ${shown(scanned)} are checked while it is locked.`,
        safer: `Add NOT VALID; ${LATER}ALTER TABLE ${table} VALIDATE CONSTRAINT ${conname}`,
      }
    );
  },
  AT_ValidateConstraint({ name }, { target, blocks, work }) {
    const scanned = work.find((one) => one.what === "scans" && one.name === target?.name && hasRows(one));
    return (
      scanned !== undefined &&
      blocks !== undefined && {
        problem: `All rows of ${shown(scanned)} are checked while the lock of an earlier statement ${blocks}.`,
        safer: `VALIDATE CONSTRAINT ${name} in another transaction: a second call of pg_execute`,
      }
    );
  },
  AT_SetNotNull({ name }, facts, table) {
    const scanned = worked(facts, "scans");
    return (
      scanned !== undefined && {
        problem: `All rows of ${shown(scanned)} are checked while nobody can read it.`,
        safer: `ALTER TABLE ${table} ADD CONSTRAINT ${name}_set CHECK (${name} IS NOT NULL) NOT VALID; ${LATER}VALIDATE CONSTRAINT ${name}_set; then SET NOT NULL, which needs no scan, and DROP CONSTRAINT ${name}_set`,
      }
    );
  },
  AT_AlterColumnType({ name }, facts) {
    const rewritten = worked(facts, "rewrites") ?? worked(facts, "builds");
    return (
      rewritten !== undefined && {
        problem: `The new type of ${name} rewrites ${shown(rewritten)} and its indexes while nobody can read it.`,
        safer: "Add a new column, keep it in step with a trigger, fill it in batches, then swap the names",
      }
    );
  },
  AT_DropColumn: ({ name }, facts) =>
    [facts.target, ...facts.locks].some(hasRows) && {
      problem: `The values of ${name} are lost, and code that still uses it fails.`,
      safer: "Drop it in a later release than the code that uses it",
    },
  AT_AttachPartition(_, facts, table) {
    const scanned = worked(facts, "scans");
    return (
      scanned !== undefined && {
        problem: `All rows of ${shown(scanned)} are checked against the bounds while ${table} is locked.`,
        safer: `First add a CHECK constraint with the bounds to the partition (NOT VALID, then VALIDATE)`,
      }
    );
  },
};

const STATEMENTS: Readonly<Record<string, (statement: Statement, facts: Facts) => Warning | false>> = {
  IndexStmt({ sql, node }, facts) {
    const built = worked(facts, "builds");
    return (
      built !== undefined &&
      node.concurrent !== true && {
        problem: `Writes to ${shown(built)} wait until the index is built.`,
        safer:
          facts.target?.isPartitioned === true
            ? `${sql.replace(/\bON\b/i, "ON ONLY")}; then, for each partition, CREATE INDEX CONCURRENTLY, alone, and ALTER INDEX … ATTACH PARTITION`
            : `${sql.replace(/\bINDEX\b/i, "INDEX CONCURRENTLY")}, alone`,
      }
    );
  },
  ReindexStmt(_, facts) {
    const built = worked(facts, "builds");
    return (
      built !== undefined &&
      facts.locks.some(({ strength }) => strength > 0) && {
        problem: `Writes to ${shown(built)} wait until the index is built.`,
        safer: "REINDEX … CONCURRENTLY, alone",
      }
    );
  },
  DropStmt({ sql, node }, facts) {
    if (node.removeType === "OBJECT_INDEX")
      return (
        node.concurrent !== true &&
        facts.locks.some(hasRows) && {
          problem: "Reads and writes of the table wait for this lock.",
          safer: facts.locks.some(({ isPartitioned }) => isPartitioned)
            ? "Keep the transaction short: a partitioned index can't be dropped CONCURRENTLY"
            : `${sql.replace(/\bINDEX\b/i, "INDEX CONCURRENTLY")}, alone`,
        }
      );
    return (
      node.removeType === "OBJECT_TABLE" && {
        problem: "The rows are lost, and code that still uses the table fails.",
        safer: "Drop it in a later release than the code that uses it",
      }
    );
  },
  RenameStmt: ({ node }) =>
    /^OBJECT_(TABLE|COLUMN|VIEW)$/.test(String(node.renameType)) && {
      problem: "Code that uses the old name fails as soon as this is committed.",
      safer:
        node.renameType === "OBJECT_COLUMN"
          ? "Add a new column and keep both in step until no code uses the old one"
          : "In the same transaction, create a view with the old name",
    },
  UpdateStmt: changesAll,
  DeleteStmt: changesAll,
};

function changesAll({ node }: Statement): Warning | false {
  return (
    node.whereClause === undefined && {
      problem: `Every row of ${relationName(node.relation)} is changed in one transaction, which keeps them locked.`,
      safer: "Change rows in batches, each in its own transaction",
    }
  );
}

/** What makes a statement risky on a table with rows, each with a safer way. */
export function lintsOf(
  statement: Statement,
  facts: Facts,
  { isAlone, others }: { readonly isAlone: boolean; readonly others: number },
): Warning[] {
  const { kind, node } = statement;
  const found = [STATEMENTS[kind]?.(statement, facts) ?? false];
  if (kind === "AlterTableStmt")
    for (const one of listOf(node.cmds)) {
      const command = treeOf(treeOf(one).AlterTableCmd);
      found.push(
        COMMANDS[String(command.subtype)]?.(command, facts, relationName(node.relation) ?? "") ?? false,
      );
    }
  if (isAlone && others > 0)
    found.push({
      problem: "CONCURRENTLY can't run in a transaction with other statements.",
      safer: "Run it alone, in its own call",
    });
  return found.flatMap((one) => one || []);
}

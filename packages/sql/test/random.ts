import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ConnectOptions } from "@refmcp/testing";
import { expect, it } from "vitest";
import { itLong } from "../../../vitest.long.ts";
import type { Talk } from "./session.ts";

// Random schemas and changing statements, for a property that every dialect must keep: what passes unasked can be undone.

export interface Dialect {
  /** Literals of each type of a column. */
  readonly types: Readonly<Record<string, readonly string[]>>;
  /** Creates a trigger that changes the table `log` whenever a row of this one is updated or deleted. */
  logging(table: string): string;
  /** Kinds of statements that only this dialect has, after those of both. */
  readonly kinds: Readonly<Record<string, (world: RandomWorld) => Made | undefined>>;
}

interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The columns of its key: none if it has none. */
  readonly key: readonly string[];
  readonly isLogged: boolean;
  /** Tables whose rows follow when a row of this one is deleted. */
  readonly followers: string[];
}

interface Made {
  /** The table that it changes: its triggers, keys and cascades are part of the kind. */
  readonly table?: Table;
  readonly statements: readonly string[];
}

/** Numbers from 0 to 1 that a seed determines. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const KEYS = [["k"], ["k"], ["k", "n"], []] as const;

class RandomWorld {
  readonly tables: Table[] = [];
  /** Statements that create the tables with rows. */
  readonly setup: string[] = [
    "CREATE TABLE log (k INTEGER PRIMARY KEY, what TEXT)",
    "INSERT INTO log VALUES (7, 'begun')",
  ];
  #fresh = 0;
  readonly #next: () => number;
  readonly dialect: Dialect;

  constructor(dialect: Dialect, seed: number) {
    this.dialect = dialect;
    this.#next = numbers(seed);
    for (const name of ["alpha", "beta", "gamma", "delta"]) this.#add(name);
  }

  /** One of several, or a number below. */
  one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.#next() * items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  /** A name that nothing has. */
  fresh(): string {
    this.#fresh += 1;
    return `fresh_${this.#fresh}`;
  }

  /** A table that no other change uses. @param rows its rows */
  another(rows?: string): string {
    const name = this.fresh();
    this.setup.push(`CREATE TABLE ${name} (x INTEGER, y INTEGER)`);
    if (rows !== undefined) this.setup.push(`INSERT INTO ${name} VALUES ${rows}`);
    return name;
  }

  #add(name: string): void {
    const types = Object.keys(this.dialect.types);
    const key = this.one(KEYS);
    const columns = [
      { name: "k", type: "INTEGER" },
      { name: "n", type: "INTEGER" },
      ...Array.from({ length: 1 + this.below(3) }, (_, at) => ({
        name: `c${at}`,
        type: this.one(types),
      })),
    ];
    const isLogged = this.below(4) === 0;
    const table: Table = { name, columns, key, isLogged, followers: [] };
    const parts = columns.map((column) => `${column.name} ${column.type}`);
    const parent = this.tables.find((other) => other.key.length === 1);
    if (parent !== undefined && this.below(2) === 0) {
      const follow = this.one(["ON DELETE CASCADE", "ON DELETE SET NULL"]);
      parts.push(`up INTEGER REFERENCES ${parent.name} ${follow}`);
      parent.followers.push(name);
    }
    if (key.length > 0) parts.push(`PRIMARY KEY (${key.join(", ")})`);
    this.tables.push(table);
    this.setup.push(`CREATE TABLE ${name} (${parts.join(", ")})`);
    for (let k = 1; k <= 30; k++)
      this.setup.push(
        `INSERT INTO ${name} (${this.#names(table)}) VALUES (${this.values(table, k)})`,
      );
    if (parent?.followers.includes(name) === true)
      this.setup.push(`UPDATE ${name} SET up = k WHERE k % 2 = 0`);
    if (isLogged) this.setup.push(this.dialect.logging(name));
  }

  #names({ columns }: Table): string {
    return columns.map(({ name }) => name).join(", ");
  }

  /** The literals of a row. */
  values({ columns }: Table, k = 1 + this.below(60)): string {
    return columns
      .map(({ name, type }) => {
        if (name === "k") return String(k);
        if (name === "n") return String(this.below(10));
        return this.one(this.dialect.types[type] ?? ["NULL"]);
      })
      .join(", ");
  }

  where(alias = ""): string {
    const n = `${alias}n`;
    return this.one([
      `${n} = ${this.below(10)}`,
      `${n} < ${this.below(6)}`,
      `${alias}k % 5 = ${this.below(5)}`,
      `${alias}k = ${1 + this.below(60)}`,
      `${alias}k IN (SELECT k FROM ${this.one(this.tables).name} WHERE n > 6)`,
    ]);
  }

  assignment(table: Table): string {
    const free = table.columns.filter(({ name }) => !["k", ...table.key].includes(name));
    const { name, type } = this.one(free);
    return `${name} = ${name === "n" ? "n + 1" : this.one(this.dialect.types[type] ?? ["NULL"])}`;
  }

  insert(table: Table): string {
    const rows = Array.from({ length: 1 + this.below(3) }, () => `(${this.values(table)})`);
    return `INSERT INTO ${table.name} (${this.#names(table)}) VALUES ${rows.join(", ")}`;
  }

  copied(table: Table): string {
    const selected = table.columns.map(({ name }) => (name === "k" ? "k + 100" : name));
    return `INSERT INTO ${table.name} (${this.#names(table)}) SELECT ${selected.join(", ")} FROM ${table.name} WHERE ${this.where()}`;
  }

  keyed(): Table | undefined {
    const some = this.tables.filter(({ key }) => key.length > 0);
    return some.length === 0 ? undefined : this.one(some);
  }
}

type Maker = (world: RandomWorld) => Made | undefined;

/** A statement about some table. */
const about = (statement: (world: RandomWorld, table: Table) => string): Maker => {
  return (world) => {
    const table = world.one(world.tables);
    return { table, statements: [statement(world, table)] };
  };
};

const ROWS: Readonly<Record<string, Maker>> = {
  INSERT: about((world, table) => world.insert(table)),
  "INSERT … SELECT": about((world, table) => world.copied(table)),
  "INSERT … ON CONFLICT DO UPDATE": (world) => {
    const table = world.keyed();
    if (table === undefined) return undefined;
    const target = `ON CONFLICT (${table.key.join(", ")}) DO UPDATE SET ${world.assignment(table)}`;
    const values = world.values(table, 1 + world.below(30));
    const names = table.columns.map(({ name }) => name).join(", ");
    const sql = `INSERT INTO ${table.name} AS t (${names}) VALUES (${values}) ${target}`;
    return { table, statements: [sql.replace("= n + 1", "= t.n + 1")] };
  },
  UPDATE: about((world, table) => {
    return `UPDATE ${table.name} SET ${world.assignment(table)} WHERE ${world.where()}`;
  }),
  "UPDATE … FROM": about((world, { name, columns }) => {
    const column = columns.at(-1)?.name ?? "k";
    return `UPDATE ${name} SET ${column} = NULL FROM log WHERE log.k = ${name}.k OR ${world.where(`${name}.`)}`;
  }),
  DELETE: about((world, table) => `DELETE FROM ${table.name} WHERE ${world.where()}`),
  "UPDATE of a key": (world) => {
    const table = world.keyed();
    if (table === undefined) return undefined;
    return { table, statements: [`UPDATE ${table.name} SET k = k + 1000 WHERE ${world.where()}`] };
  },
};

const mixed: Maker = (world) => {
  const statements = Array.from({ length: 2 + world.below(3) }, () => {
    const kind = world.one(["INSERT", "UPDATE", "DELETE"] as const);
    return ROWS[kind]?.(world)?.statements ?? [];
  });
  return { statements: statements.flat() };
};

const SCHEMA: Readonly<Record<string, Maker>> = {
  "CREATE TABLE": (world) => ({ statements: [`CREATE TABLE ${world.fresh()} (x INTEGER)`] }),
  "CREATE INDEX": about((world, { name }) => `CREATE INDEX ${world.fresh()} ON ${name} (n)`),
  "ALTER TABLE … ADD COLUMN": (world) => {
    return { statements: [`ALTER TABLE ${world.another()} ADD COLUMN z INTEGER`] };
  },
  "ALTER TABLE … DROP COLUMN": (world) => {
    return { statements: [`ALTER TABLE ${world.another("(1, 2)")} DROP COLUMN y`] };
  },
  "DROP TABLE": (world) => ({ statements: [`DROP TABLE ${world.another("(1, 2), (3, 4)")}`] }),
  "BEGIN, COMMIT": (world) => ({ statements: [world.one(["BEGIN", "COMMIT", "ROLLBACK"])] }),
};

/** What to run, under the name of its kind. */
interface RandomChange {
  readonly kind: string;
  /** What about the table matters. */
  readonly condition: string;
  readonly statements: readonly string[];
}

const MIXED = "several of them at once";

const kindsIn = ({ kinds }: Dialect): Readonly<Record<string, Maker>> => ({
  ...ROWS,
  [MIXED]: mixed,
  ...kinds,
  ...SCHEMA,
});

/** Each kind as often as the next. All that they need is in `setup` when they are made. */
function changesOf(world: RandomWorld, count: number): RandomChange[] {
  const kinds = kindsIn(world.dialect);
  const names = Object.keys(kinds);
  return Array.from({ length: count }, (_, at) => {
    const kind = names[at % names.length] ?? "";
    const change = kinds[kind]?.(world);
    return change === undefined
      ? []
      : [{ kind, condition: conditionOf(kind, change.table), statements: change.statements }];
  }).flat();
}

/** What about its table matters to a change. */
function conditionOf(kind: string, table: Table | undefined): string {
  if (table === undefined || kind in SCHEMA) return "";
  const updates = !kind.startsWith("INSERT") || kind.includes("CONFLICT");
  if (updates && table.key.length === 0) return "table without a key";
  if (updates && table.isLogged) return "a trigger changes other rows";
  if (/^(DELETE|REPLACE)/.test(kind) && table.followers.length > 0)
    return "referencing rows follow";
  return "";
}

type Outcome = "undone" | "passed" | "asked" | "refused";

/** By kind and condition. */
type Outcomes = Map<string, Map<string, Set<Outcome>>>;

const CHANGES = 60;

const COLUMNS: readonly (readonly [Outcome, string])[] = [
  ["undone", "Can be undone"],
  ["passed", "Passes: nothing is lost"],
  ["asked", "Asks first"],
  ["refused", "Refused"],
];

/** A database under test. */
interface Subject {
  /** All rows of all tables. */
  content(): Promise<unknown>;
  /** Runs a change, with a user who agrees or declines. */
  run(
    statements: readonly string[],
    agrees: boolean,
  ): Promise<{ readonly asked: boolean; readonly error?: string; readonly changeId?: string }>;
  /** @returns the id of this change */
  undo(changeId: string): Promise<string>;
}

/** A database behind a server. @param connect starts it @param tools its tools to change and to undo */
export async function subjectOf(
  connect: (elicit: NonNullable<ConnectOptions["elicit"]>) => Promise<Talk>,
  [execute, undo]: readonly [string, string],
  content: Subject["content"],
): Promise<Subject> {
  let [asked, agrees] = [false, false];
  const server = await connect(() => {
    asked = true;
    return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
  });
  return {
    content,
    async run(statements, isAgreeing) {
      [asked, agrees] = [false, isAgreeing];
      const { text, isError } = await server.call(execute, { statements });
      if (isError) return { asked, error: text };
      const changeId: unknown = JSON.parse(text).change_id;
      return { asked, ...(typeof changeId === "string" ? { changeId } : {}) };
    },
    undo: async (change_id) => String((await server.data(undo, { change_id })).change_id),
  };
}

/** The tests of a dialect. @param enter makes a database with these statements @param seeds of the long test */
export function testChanges(
  dialect: Dialect,
  readme: URL,
  enter: (setup: readonly string[]) => Promise<Subject>,
  seeds: number,
): void {
  it("what passes can be undone, for any schema; the README says what asks", async () => {
    const file = fileURLToPath(readme);
    const outcomes = await outcomesOf(dialect, [1, 2, 3], enter);
    const table = withOutcomes(await readFile(file, "utf8"), dialect, outcomes);
    await expect(table).toMatchFileSnapshot(file);
  }, 300_000);

  itLong(
    "the same with many schemas",
    async () => {
      const more = Array.from({ length: seeds }, (_, at) => 4 + at);
      expect((await outcomesOf(dialect, more, enter)).size).toBeGreaterThan(10);
    },
    900_000,
  );
}

/** The promise that was broken. */
const broken = (promise: string, change: RandomChange, more = "") =>
  new Error(`${promise}: ${change.kind}: ${change.statements.join("; ")} ${more}`);

/**
 * Runs a change and tests the promises: what is refused or declined changes nothing; what passes with a record can be undone and
 * done again; what passes without one has changed no row.
 *
 * @returns what became of it, or undefined if it changed nothing or broke a constraint
 * @throws if a promise is broken
 */
async function outcomeOf(subject: Subject, change: RandomChange): Promise<Outcome | undefined> {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const before = await subject.content();
  const first = await subject.run(change.statements, false);
  const after = await subject.content();
  if (first.error !== undefined) {
    if (!same(after, before)) throw broken("not done, but changed", change, first.error);
    if (!first.asked) return /constraint|violates/.test(first.error) ? undefined : "refused";
    const { error } = await subject.run(change.statements, true);
    if (error !== undefined) throw broken("agreed, but not done", change, error);
    return "asked";
  }
  if (first.asked) throw broken("declined, but done", change);
  if (first.changeId === undefined) {
    if (!same(after, before)) throw broken("not asked, and not recorded", change);
    return /CREATE|ADD/.test(change.kind) ? "passed" : undefined;
  }
  const redo = await subject.undo(first.changeId).catch((error) => {
    throw broken("recorded, but not undone", change, String(error));
  });
  if (!same(await subject.content(), before)) throw broken("undone to something else", change);
  await subject.undo(redo);
  if (!same(await subject.content(), after)) throw broken("not done again", change);
  return "undone";
}

/** Runs random changes in random schemas. @returns by kind and condition, what became of them */
async function outcomesOf(
  dialect: Dialect,
  seeds: readonly number[],
  enter: (setup: readonly string[]) => Promise<Subject>,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  for (const seed of seeds) {
    const world = new RandomWorld(dialect, seed);
    const changes = changesOf(world, CHANGES);
    const subject = await enter(world.setup);
    for (const change of changes) {
      const outcome = await outcomeOf(subject, change);
      const ofKind = outcomes.get(change.kind) ?? new Map<string, Set<Outcome>>();
      const seen = ofKind.get(change.condition) ?? new Set();
      if (outcome === undefined) continue;
      outcomes.set(change.kind, ofKind.set(change.condition, seen.add(outcome)));
    }
  }
  return outcomes;
}

/** A README with its table of what becomes of each kind of statement: between the comments `tested:changes`. */
function withOutcomes(readme: string, dialect: Dialect, outcomes: Outcomes): string {
  const kindsOf = new Map<string, string[]>();
  for (const kind of Object.keys(kindsIn(dialect))) {
    const conditions = [...(outcomes.get(kind) ?? [])].sort();
    const isSame = new Set(conditions.map(([, seen]) => [...seen].sort().join())).size === 1;
    const cells = COLUMNS.map(([outcome]) => {
      const those = conditions.flatMap(([condition, seen]) =>
        seen.has(outcome) && (isSame || outcome !== "undone" || !seen.has("asked"))
          ? [condition || "otherwise"]
          : [],
      );
      return isSame && those.length > 0 ? "✓" : those.join("; ");
    });
    const row = cells.join(" | ");
    kindsOf.set(row, [...(kindsOf.get(row) ?? []), kind === MIXED ? kind : `\`${kind}\``]);
  }
  const rows = [...kindsOf].map(([row, kinds]) => [kinds.join(", "), row]);
  const head = ["Statement", ...COLUMNS.map(([, title]) => title)];
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
  return readme.replace(
    /(<!-- tested:changes -->\n)[\s\S]*?(<!-- \/tested -->)/,
    (_, start, end) => `${start}\n${table}\n\n${end}`,
  );
}

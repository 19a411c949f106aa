import { afterAll, beforeAll, expect, it } from "vitest";
import { itLong, someOf } from "../../../../vitest.long.ts";
import { type Lab, lab } from "../../test/lab.ts";
import { type Talk, talk } from "../../test/session.ts";

interface Step {
  readonly sql: string;
  readonly locks?: string[];
  readonly work?: string[];
  readonly warnings?: { problem: string; safer: string }[];
  readonly skipped?: string;
  readonly error?: string;
}
interface Answer {
  readonly ok: boolean;
  readonly statements: Step[];
  readonly changes: string[];
  readonly notes?: string[];
}

let db: Lab;
let client: Talk;

beforeAll(async () => {
  db = await lab(`CREATE TABLE customers (id int PRIMARY KEY, email text, joined date);
    CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int, total numeric(10, 2), note varchar(20), state text);
    CREATE VIEW big AS SELECT id, total FROM orders WHERE total > 100;
    CREATE TABLE empty (id int, v int); CREATE TYPE mood AS ENUM ('calm');
    CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER touched BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();
    INSERT INTO customers SELECT n, 'c' || n, '2026-01-01' FROM generate_series(1, 5000) n; INSERT INTO orders SELECT n, n % 5000 + 1, n, 'x', 'new' FROM generate_series(1, 20000) n;
    CREATE INDEX orders_state ON orders (state);
    CREATE TABLE paid (id int, amount numeric, at date) PARTITION BY RANGE (at); CREATE TABLE paid_1 PARTITION OF paid FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
    INSERT INTO paid SELECT n, n, '2026-02-03' FROM generate_series(1, 5000) n; CREATE INDEX paid_id ON paid (id); ANALYZE`);
  // The role may only read some of it.
  await db.admin(
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${db.role}; GRANT SELECT ON customers TO ${db.role}`,
  );
  client = await talk(["--url", db.url, "--toolsets", "dba,data"]);
});
afterAll(async () => {
  await client.close();
  await db.dispose();
});

const rehearse = async (...statements: string[]) =>
  (await client.data("pg_rehearse", { statements })) as unknown as Answer;

const SIZE = String.raw`public\.orders \(about 20,000 rows, [\d.]+ [KM]iB\)`;
const STRONG = new RegExp(`^ACCESS EXCLUSIVE on ${SIZE}: blocks reads and writes$`);

/** Statements with their lock, their work, and what the safer way says. */
const KNOWN: readonly (readonly [
  sql: string,
  lock: RegExp | undefined,
  work: RegExp | undefined,
  safer: RegExp | undefined,
])[] = [
  [
    "CREATE INDEX orders_total ON orders (total)",
    new RegExp(`^SHARE on ${SIZE}: blocks writes$`),
    new RegExp(`^builds index orders_total on ${SIZE}$`),
    /^CREATE INDEX CONCURRENTLY orders_total ON orders \(total\), alone$/,
  ],
  [
    "CREATE INDEX CONCURRENTLY orders_total ON orders (total)",
    /^SHARE UPDATE EXCLUSIVE on public\.orders/,
    /^builds index orders_total/,
    undefined,
  ],
  ["DROP INDEX orders_state", STRONG, undefined, /^DROP INDEX CONCURRENTLY orders_state, alone$/],
  ["ALTER TABLE orders ALTER total TYPE float8 USING total", undefined, undefined, undefined],
  [
    "ALTER TABLE orders ALTER customer_id TYPE bigint",
    STRONG,
    new RegExp(`^rewrites ${SIZE}$`),
    /^Add a new column/,
  ],
  ["ALTER TABLE orders ALTER note TYPE varchar(40)", STRONG, undefined, undefined],
  ["ALTER TABLE orders ADD added timestamptz DEFAULT now()", STRONG, undefined, undefined],
  [
    "ALTER TABLE orders ADD token uuid DEFAULT gen_random_uuid()",
    STRONG,
    /^rewrites/,
    /without the default/,
  ],
  ["ALTER TABLE orders ADD kind text NOT NULL", STRONG, /^scans/, /^Add a DEFAULT/],
  [
    "ALTER TABLE empty ADD kind text NOT NULL",
    /^ACCESS EXCLUSIVE on public\.empty/,
    /^scans/,
    undefined,
  ],
  [
    "ALTER TABLE orders ALTER state SET NOT NULL",
    STRONG,
    new RegExp(`^scans ${SIZE}$`),
    /CHECK \(state IS NOT NULL\) NOT VALID; .*VALIDATE CONSTRAINT/,
  ],
  [
    "ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0)",
    STRONG,
    /^scans/,
    /^Add NOT VALID; .*ALTER TABLE "orders" VALIDATE CONSTRAINT positive$/,
  ],
  [
    "ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0) NOT VALID",
    STRONG,
    undefined,
    undefined,
  ],
  [
    "ALTER TABLE orders ADD CONSTRAINT placed FOREIGN KEY (customer_id) REFERENCES customers",
    new RegExp(`^SHARE ROW EXCLUSIVE on ${SIZE}`),
    new RegExp(`^scans foreign key placed of ${SIZE}$`),
    /^Add NOT VALID/,
  ],
  [
    "ALTER TABLE orders ADD CONSTRAINT placed FOREIGN KEY (customer_id) REFERENCES customers NOT VALID",
    /^SHARE ROW EXCLUSIVE/,
    undefined,
    undefined,
  ],
  [
    "ALTER TABLE orders ADD CONSTRAINT once UNIQUE (note)",
    STRONG,
    /^builds index once/,
    /^CREATE UNIQUE INDEX CONCURRENTLY once ON "orders" \(note\) alone; .*UNIQUE USING INDEX once$/,
  ],
  ["ALTER TABLE orders RENAME state TO status", STRONG, undefined, /keep both in step/],
  [
    "ALTER TABLE customers RENAME TO clients",
    /^ACCESS EXCLUSIVE on public\.customers/,
    undefined,
    /create a view with the old name/,
  ],
  ["ALTER TABLE orders DROP note", STRONG, undefined, /later release/],
  ["DROP TABLE customers", /^ACCESS EXCLUSIVE on public\.customers/, undefined, /later release/],
  ["UPDATE orders SET state = 'old'", undefined, undefined, /batches/],
  ["ALTER TYPE mood ADD VALUE 'busy'", undefined, undefined, undefined],
  ["CREATE TABLE fresh (id int PRIMARY KEY, v int NOT NULL)", undefined, undefined, undefined],
];

it.for(someOf(10, KNOWN))("%s", async ([sql, lock, work, safer]) => {
  const { ok, statements } = await rehearse(sql);
  const [step] = statements;
  if (sql.includes("ALTER total TYPE")) {
    // A view uses the column: PostgreSQL's own error.
    expect([ok, step?.error]).toEqual([
      false,
      expect.stringMatching(/used by a view or rule.*view big depends/),
    ]);
    return;
  }
  expect(ok).toBe(true);
  for (const [list, pattern] of [
    [step?.locks, lock],
    [step?.work, work],
    [step?.warnings?.map((one) => one.safer), safer],
  ] as const)
    expect(list).toEqual(
      pattern === undefined ? undefined : expect.arrayContaining([expect.stringMatching(pattern)]),
    );
});

it("shows how the schema changes, for a file of several statements, and leaves the database unchanged", async () => {
  const objects =
    "SELECT string_agg(relname, ',' ORDER BY relname) AS names FROM pg_class WHERE relnamespace = 'public'::regnamespace";
  const before = await db.admin(objects);
  const { ok, statements, changes, notes } = await rehearse(
    `BEGIN; SET lock_timeout = '2s';
     ALTER TABLE orders ADD COLUMN größe text DEFAULT 'ü'; -- "ß" is two bytes
     DROP VIEW big; CREATE INDEX ON orders (größe); ALTER TABLE customers ALTER email SET NOT NULL;
     CREATE POLICY own ON customers USING (email = current_user); COMMIT`,
  );
  expect(ok).toBe(true);
  expect(statements.map(({ sql, skipped }) => [sql.split(" ")[0], skipped !== undefined])).toEqual([
    ["BEGIN", true],
    ["SET", true],
    ["ALTER", false],
    ["DROP", false],
    ["CREATE", false],
    ["ALTER", false],
    ["CREATE", false],
    ["COMMIT", true],
  ]);
  expect(changes).toEqual(
    expect.arrayContaining([
      '+ column public.orders."größe": text',
      expect.stringMatching(/^\+ default public\.orders\."größe": .*'ü'/),
      "- view public.big",
      expect.stringMatching(/^\+ index public\."orders_größe_idx": CREATE INDEX/),
      "~ column public.customers.email: text → text NOT NULL",
      expect.stringMatching(/^\+ policy public\.customers\.own/),
    ]),
  );
  expect(notes).toBeUndefined();
  expect(await db.admin(objects)).toEqual(before);
  // The copy has not changed either.
  expect((await rehearse("DROP VIEW big")).changes).toEqual(["- view public.big"]);
});

itLong(
  "stops at the first failure, with its position, and says what was rehearsed before it",
  async () => {
    const { ok, statements, changes } = await rehearse(
      "ALTER TABLE orders ADD a int",
      "ALTER TABLE orders ADD b nosuchtype",
      "DROP TABLE empty",
    );
    expect(ok).toBe(false);
    expect(statements).toHaveLength(2);
    expect(statements[1]?.error).toMatch(/type "nosuchtype" does not exist.*position/);
    expect(changes).toEqual(["+ column public.orders.a: integer"]);
  },
);

itLong(
  "names what can't be rehearsed without rows, and CONCURRENTLY among other statements",
  async () => {
    const { ok, statements, notes } = await rehearse(
      "ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers NOT VALID",
      "INSERT INTO orders (id, customer_id) VALUES (1, 1)",
      "CREATE INDEX CONCURRENTLY ON orders (note)",
      "VACUUM orders",
    );
    expect(ok).toBe(true);
    expect(statements[1]?.skipped).toMatch(/not run: the copy has no rows/);
    expect(statements[2]?.warnings?.[0]?.safer).toBe("Run it alone, in its own call");
    expect(statements[3]?.skipped).toMatch(/VACUUM/);
    expect(notes).toBeUndefined();
    const locked = await rehearse("ALTER TABLE orders ADD x int");
    expect(locked.notes).toEqual([expect.stringContaining("lock_timeout")]);
  },
);

itLong(
  "knows that PostgreSQL refuses CONCURRENTLY for an index of a partitioned table",
  async () => {
    for (const sql of [
      "CREATE INDEX CONCURRENTLY ON paid (amount)",
      "DROP INDEX CONCURRENTLY paid_id",
    ]) {
      await expect(db.admin(sql)).rejects.toThrow(/partitioned/);
      const { ok, statements } = await rehearse(sql);
      expect([ok, statements[0]?.error]).toEqual([
        false,
        expect.stringMatching(/CONCURRENTLY.*is partitioned/),
      ]);
    }
    expect((await rehearse("CREATE INDEX CONCURRENTLY ON paid_1 (amount)")).ok).toBe(true);
    const { statements } = await rehearse("CREATE INDEX ON paid (amount)", "DROP INDEX paid_id");
    expect(statements.map(({ warnings }) => warnings?.[0]?.safer)).toEqual([
      expect.stringMatching(/^CREATE INDEX ON ONLY paid \(amount\); .*ATTACH PARTITION$/),
      expect.not.stringContaining("DROP INDEX CONCURRENTLY"),
    ]);
  },
);

itLong("warns if a constraint is validated while the lock that added it is held", async () => {
  const add = "ALTER TABLE orders ADD CONSTRAINT positive CHECK (total > 0) NOT VALID";
  const validate = "ALTER TABLE orders VALIDATE CONSTRAINT positive";
  const { statements } = await rehearse(add, validate);
  expect(statements[1]?.warnings).toEqual([
    {
      problem: expect.stringMatching(
        /^All rows of public\.orders .* earlier statement blocks reads and writes\.$/,
      ),
      safer: expect.stringMatching(/^VALIDATE CONSTRAINT positive in another transaction/),
    },
  ]);
  await db.admin(add);
  await db.admin("COMMENT ON TABLE orders IS 'so that the copy is made again'");
  expect((await rehearse(validate)).statements[0]).not.toHaveProperty("warnings");
  await db.admin("ALTER TABLE orders DROP CONSTRAINT positive");
});

itLong("checks the names of changes of rows, and changes none", async () => {
  const { statements } = await rehearse("UPDATE orders SET stat = 'old' WHERE id = 1");
  expect(statements[0]?.error).toMatch(/column "stat" of relation "orders" does not exist/);
  // It would fill the disk.
  const filled = await rehearse(
    "INSERT INTO orders (id) SELECT n FROM generate_series(1, 1e11::bigint) n",
  );
  expect(filled).toMatchObject({ ok: true, statements: [{ skipped: expect.any(String) }] });
});

itLong("warns about partitioned tables", async () => {
  await db.admin(`CREATE TABLE parts (id int) PARTITION BY RANGE (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (9000);
    INSERT INTO parts SELECT n FROM generate_series(1, 5000) n; ANALYZE parts`);
  const { statements } = await rehearse(
    "ALTER TABLE parts ADD kind text NOT NULL",
    "CREATE INDEX ON parts (id)",
  );
  expect(statements[0]?.locks?.join()).toMatch(
    /ACCESS EXCLUSIVE on public\.parts: .*ACCESS EXCLUSIVE on public\.parts_1 \(about 5,000 rows/,
  );
  expect(statements[0]?.warnings?.[0]?.problem).toMatch(/NOT NULL and has no DEFAULT/);
  expect(statements[1]?.work?.join()).toMatch(/builds index parts_1_id_idx on public\.parts_1/);
});

it("refuses what pg_execute refuses", async () => {
  for (const [sql, message] of [
    ["COPY orders TO PROGRAM 'id'", /COPY/i],
    ["ALTER SYSTEM SET work_mem = '1GB'", /ALTER SYSTEM/i],
    ["DROP ROLE postgres", /--allow-admin/],
    ["SELECT pg_read_file('/etc/passwd')", /pg_read_file/],
    ["ALTER TABEL orders", /syntax error/],
    ["  ", /no statement/],
  ] as const) {
    const { isError, text } = await client.call("pg_rehearse", { statements: [sql] });
    expect([isError, text]).toEqual([true, expect.stringMatching(message)]);
  }
});

it("pg_execute adds what the rehearsal of the same statements found to its question", async () => {
  const questions: string[] = [];
  const writer = await talk(
    ["--url", db.adminUrl, "--allow-privileged-role", "--allow-write", "--toolsets", "dba,data"],
    {
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "decline" };
      },
    },
  );
  const statements = ["ALTER TABLE orders DROP note"];
  await writer.call("pg_execute", { statements });
  await writer.data("pg_rehearse", { statements: ["ALTER TABLE orders DROP note;"] });
  await writer.call("pg_execute", { statements });
  await writer.close();
  expect(questions).toHaveLength(2);
  expect(questions[0]).not.toContain("rehearsal");
  expect(questions[1]).toMatch(
    /The rehearsal found: ACCESS EXCLUSIVE on public\.orders \(about 20,000 rows/,
  );
});

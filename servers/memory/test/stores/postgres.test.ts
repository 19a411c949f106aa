import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { openPostgresStore } from "../../src/graph/store/postgres-store.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { create, entity } from "./help.ts";
import { storeSuite } from "./suite.ts";

let postgres: TestPostgres | undefined;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

const spaces = new Map<Store, string>();
const open = async (same?: Store) => {
  const space = spaces.get(same as Store) ?? `s${spaces.size}`;
  const store = await openPostgresStore(postgres?.url ?? "", space);
  spaces.set(store, space);
  return store;
};
storeSuite("a graph in PostgreSQL", open, isLong, isLong);

describe("PostgreSQL with few privileges", () => {
  async function as(url: string, ...statements: string[]): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  /** The URL of a new user without any rights but to connect. */
  async function stranger(database: string, name: string): Promise<string> {
    await as(database, `CREATE ROLE ${name} LOGIN PASSWORD 'p'`);
    const url = new URL(database);
    url.username = name;
    url.password = "p";
    return url.href;
  }

  it("is refused with the missing privilege if no schema can be created", async () => {
    const database = (await postgres?.createDatabase()) ?? "";
    await expect(
      openPostgresStore(await stranger(database, "stranger"), "s"),
    ).rejects.toMatchObject({
      kind: "denied",
      hint: expect.stringContaining("permission to create a schema"),
    });
  });

  it("is created once by processes that start at the same time", async () => {
    const database = (await postgres?.createDatabase()) ?? "";
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgresStore(database, "s")));
    await Promise.all(stores.map((store, index) => create(store, [entity(`e${index}`)])));
    expect(await stores[0]?.read((reader) => reader.counts())).toMatchObject({ entities: 4 });
    for (const store of stores) await store.close();
  });
});

import { startPostgres, type TestPostgres } from "@refmcp/embedded-postgres/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { searchNodes } from "../../src/graph/search/search.ts";
import { openPostgresStore } from "../../src/graph/store/postgres-store.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { budget, create, entity, type StoreMaker } from "./help.ts";
import { storeSuite } from "./suite.ts";

let postgres: TestPostgres | undefined;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.stop());

const makeMaker = async (): Promise<StoreMaker> => {
  const spaces = new Map<Store, string>();
  let count = 0;
  const open = async (space: string) => {
    const store = await openPostgresStore(postgres?.url ?? "", space);
    spaces.set(store, space);
    return store;
  };
  return {
    fresh() {
      count += 1;
      return open(`s${count}`);
    },
    again: (store: Store) => open(spaces.get(store) ?? "none"),
    dispose: async () => undefined,
  };
};
storeSuite("a graph in PostgreSQL", makeMaker, isLong);

describe("a store in PostgreSQL", () => {
  it("cancels a running statement when the call stops, and answers the next call", async () => {
    const store = await openPostgresStore(postgres?.url ?? "", "cancel");
    const running = async () => {
      const client = new Client({ connectionString: postgres?.url });
      await client.connect();
      const { rows } = await client.query<{ query: string }>(
        "SELECT query FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(5%' AND pid <> pg_backend_pid()",
      );
      await client.end();
      return rows.length;
    };
    const controller = new AbortController();
    const slow = "SELECT name FROM entities, (SELECT pg_sleep(59)) slow WHERE name = ?";
    const call = store.write(async (writer) => {
      writer.startChange({ action: "create_entities" });
      await writer.addEntities([{ name: "half", type: "t" }]);
      // A statement of this store's own connection, as a long search is.
      await Reflect.get(writer, "connection").all(slow, "half");
    }, controller.signal);
    const ended = expect(call).rejects.toThrow("the call was cancelled");
    await expect.poll(running).toBe(1);
    controller.abort(new Error("the call was cancelled"));
    await ended;
    await expect.poll(running).toBe(0);
    // Nothing of it was kept, and the lock of writers is free.
    expect(await store.read((reader) => reader.counts())).toMatchObject({ entities: 0 });
    await create(store, [entity("next", "t", ["works"])]);
    const { entities } = await searchNodes(store, { query: "works", limit: 20, budget });
    expect(entities.map(({ name }) => name)).toEqual(["next"]);
    await store.close();
  });
});

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

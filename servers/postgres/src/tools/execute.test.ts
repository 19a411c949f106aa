import { describe, expect, it } from "vitest";
import { shop } from "../../test/shop.ts";

const at = shop();
const cities = () => at().sql("SELECT city FROM customers ORDER BY id");

describe("pg_execute", () => {
  it("changes rows and answers what was returned and counted", async () => {
    expect(
      await at().data("pg_execute", {
        statements: ["UPDATE customers SET city = $1 WHERE name = $2 RETURNING id, city"],
        params: ["Paris", "Edsger"],
      }),
    ).toMatchObject({
      committed: true,
      results: [{ command: "UPDATE", row_count: 1, rows: [[3, "Paris"]] }],
      tables: [{ table: expect.stringContaining("customers"), updated: 1 }],
    });
    expect((await cities())[2]).toEqual({ city: "Paris" });
    expect(at().questions).toEqual([]);
  });

  it("takes everything back for dry_run, and when one of several fails", async () => {
    const before = await cities();
    const statements = ["UPDATE customers SET city = 'Rome' WHERE id = 1"];
    expect(await at().data("pg_execute", { statements, dry_run: true })).toMatchObject({ committed: false });
    const failed = await at().call("pg_execute", {
      statements: [...statements, "INSERT INTO nowhere VALUES (1)"],
    });
    expect(failed).toMatchObject({ isError: true, text: expect.stringContaining("nowhere") });
    expect(await cities()).toEqual(before);
  });

  it("asks with the exact loss before it destroys", async () => {
    await at().sql("CREATE TABLE old AS SELECT generate_series(1, 7) AS n");
    expect(await at().data("pg_execute", { statements: ["DELETE FROM old"] })).toMatchObject({
      committed: true,
      loss: expect.stringContaining("7"),
    });
    expect(at().questions.at(-1)).toMatch(/7 rows/);
    expect(await at().data("pg_execute", { statements: ["DROP TABLE old"] })).toMatchObject({
      committed: true,
    });
    expect(at().questions).toHaveLength(2);
  });

  it("refuses what would end its transaction", async () => {
    for (const statement of ["COMMIT", "BEGIN", "SELECT 1; DROP TABLE orders", "VACUUM"]) {
      const { isError, text } = await at().call("pg_execute", { statements: [statement] });
      expect(isError, text).toBe(true);
    }
    expect(await at().sql("SELECT count(*)::int AS n FROM orders")).toEqual([{ n: 3 }]);
  });
});

import { expect, it } from "vitest";
import { shop } from "../../test/shop.ts";

const at = shop();

it("makes every check on its own, and is there only with the dba toolset", async () => {
  const { findings } = await at().data("pg_health");
  const list = findings as { check: string; status: string; summary: string }[];
  expect(new Set(list.map(({ check }) => check)).size).toBeGreaterThanOrEqual(7);
  for (const { status, summary } of list) {
    expect(["ok", "warning", "note"]).toContain(status);
    expect(summary.length).toBeGreaterThan(5);
  }
});

it("finds a sequence that runs out", async () => {
  await at().sql("CREATE TABLE narrow (id smallserial PRIMARY KEY); SELECT setval('narrow_id_seq', 32000)");
  expect(await at().data("pg_health", { checks: ["sequences"] })).toMatchObject({
    findings: [{ check: "sequences", status: "warning", details: [expect.objectContaining({})] }],
  });
});

import { expect, it } from "vitest";
import { session } from "../../test/session.ts";

const ada = { name: "Ada", entityType: "person", observations: ["likes tea"] };

it("returns what it created, like the official server, and what it skipped", async () => {
  const { data, failure } = await session();
  const entities = [ada];
  expect(await data("create_entities", { entities })).toEqual({ entities, change_id: 1 });
  expect(await data("create_entities", { entities })).toEqual({ entities: [], skipped: ["Ada"] });
  expect(await failure("create_entities", { entities, source: " " })).toContain("source");
});

it("truncates the echo of a large call to the budget, after everything was written", async () => {
  const { data } = await session();
  const entities = Array.from({ length: 1_000 }, (_, index) => ({ ...ada, name: `n${index}` }));
  const answer = await data("create_entities", { entities });
  expect(JSON.stringify(answer).length).toBeLessThan(20_000);
  const { entities: shown, not_shown } = answer;
  expect(Array.isArray(shown) && shown.length + Number(not_shown)).toBe(1_000);
  expect(await data("memory_stats")).toMatchObject({ total: { entities: 1_000 } });
});

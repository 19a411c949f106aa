import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./create-table.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("creates a table, and nothing else", async () => {
  const { databases, call } = await enter();
  const run = (query: string) => tool.run(of({ query }), databases, call);
  expect(await run("CREATE TABLE notes (note TEXT)")).toMatchObject({ committed: true });
  await expect(run("CREATE TABLE notes (note TEXT)")).rejects.toThrow("already exists");
  await expect(run("DROP TABLE users")).rejects.toMatchObject({ kind: "denied" });
});

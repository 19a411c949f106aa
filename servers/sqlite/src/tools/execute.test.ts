import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./execute.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("runs all statements or none, and names the one that failed", async () => {
  const { databases, call } = await enter();
  const insert = { sql: "INSERT INTO users VALUES (8, ?, ?)", params: ["Luigi", "Turin"] };
  const run = (statements: unknown[]) => tool.run(of({ statements }), databases, call);
  await expect(run([insert, insert])).rejects.toThrow(/^Statement 2: UNIQUE/);
  await expect(run([insert, "DELETE FORM users"])).rejects.toThrow(
    /^Statement 2: near "FORM": .* \(position 8: "DELETE »FORM users"\)/,
  );
  const named = {
    query: "UPDATE users SET name = :name WHERE id = :id",
    params: { id: 1, name: "Lovelace" },
  };
  expect(await run([named])).toMatchObject({ results: [{ row_count: 1 }] });
  expect(await run([insert, "CREATE TABLE made (x)"])).toMatchObject({
    committed: true,
    results: [{ command: "INSERT", row_count: 1 }, { command: "CREATE TABLE" }],
  });
});

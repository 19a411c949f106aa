import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./read-query.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("takes values as a list, or as an object for names, and PRAGMAs that read", async () => {
  const { databases, call } = await enter();
  const ask = async (query: string, params?: unknown) => {
    const answer = await tool.run(
      of({ query, ...(params !== undefined && { params }) }),
      databases,
      call,
    );
    return JSON.parse(JSON.stringify(answer));
  };
  for (const params of [{ n: 2 }, [{ n: 2 }], [2]])
    expect(await ask("SELECT name FROM users WHERE id = :n", params)).toMatchObject({
      rows: [["Mary"]],
    });
  expect(await ask("PRAGMA journal_mode")).toMatchObject({ rows: [["delete"]] });
  expect(await ask("PRAGMA main.journal_mode;")).toMatchObject({ rows: [["delete"]] });
  expect(await ask("PRAGMA foreign_keys")).toMatchObject({ row_count: 1 });
  for (const pragma of ["journal_mode = WAL", "foreign_keys(0)", "wal_checkpoint"])
    await expect(ask(`PRAGMA ${pragma}`)).rejects.toThrow(/is not allowed in this form/);
});

it("returns rows in every format, and refuses a change", async () => {
  const { databases, call } = await enter();
  const query = "SELECT id, name FROM users WHERE city = ? ORDER BY id";
  const ask = async (more: object) => {
    const answer = await tool.run(of({ query, params: ["London"], ...more }), databases, call);
    return JSON.parse(JSON.stringify(answer));
  };
  expect(await ask({})).toMatchObject({
    rows: [
      [1, "Ada"],
      [3, "Charles"],
    ],
    row_count: 2,
    truncated: false,
  });
  expect(await ask({ format: "objects" })).toMatchObject({
    objects: [{ id: 1, name: "Ada" }, { id: 3 }],
  });
  expect(await ask({ format: "csv" })).toMatchObject({ text: "id,name\n1,Ada\n3,Charles\n" });
  expect(await ask({ format: "markdown" })).toMatchObject({
    text: expect.stringContaining("| 1 | Ada |"),
  });
  await expect(tool.run(of({ query: "DELETE FROM users" }), databases, call)).rejects.toMatchObject(
    {
      kind: "denied",
    },
  );
});

import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./suggest-indexes.ts";

const enter = labs();
const SCHEMA = `
CREATE TABLE big (id INTEGER PRIMARY KEY, kind INT, at TEXT, "odd, name" INT, user_id INT REFERENCES users (id));
CREATE INDEX big_at ON big (at); CREATE INDEX big_at_kind ON big (at, id);`;

it("suggests an index for a foreign key, and dropping a redundant one", async () => {
  const { databases, call } = await enter(undefined, SCHEMA);
  const { suggestions } = Object(await tool.run(tool.input.parse({}), databases, call));
  expect(suggestions).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ create: 'CREATE INDEX "big_user_id" ON "big" ("user_id")' }),
      expect.objectContaining({
        drop: 'DROP INDEX "big_at"',
        reason: "big_at_kind starts with the same columns.",
      }),
    ]),
  );
});

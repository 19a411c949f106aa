import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("names the fact that a new one may contradict, with the id to replace", async () => {
  const { data } = await circle();
  const add = (contents: string[], replaces?: string[]) =>
    data("add_observations", { observations: [{ entityName: "Ada", contents, replaces }] });
  expect((await add(["Ada lives in Munich", "has a cat", "is a nurse"])).note).toBeUndefined();
  expect((await add(["lives in Leipzig, Nikolaistrasse 3"])).note).toBe(
    '"Ada" has "Ada lives in Munich" (#4). If "lives in Leipzig, Nikolaistrasse 3" replaces that, repeat the call with its id in replaces.',
  );
  expect(await add(["lives in Leipzig, Nikolaistrasse 3"], ["#4"])).toMatchObject({
    results: [{ addedObservations: [], superseded: ["Ada lives in Munich"] }],
  });
  // Another predicate, or a list of equal ones.
  expect((await add(["likes coffee", "is a painter", "Ada"])).note).toBeUndefined();
  await add([
    "read the book one",
    "read the book two",
    "read the book three",
    "read the book four",
  ]);
  expect((await add(["read the book five"])).note).toBeUndefined();
});

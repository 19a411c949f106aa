import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./database-info.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("reports size and health", async () => {
  const { databases, call } = await enter();
  const info = await tool.run(of({}), databases, call);
  expect(info).toMatchObject({
    integrity: ["ok"],
    largest_tables: expect.arrayContaining([{ name: "orders", bytes: 8192 }]),
    journal_mode: "delete",
    encoding: "UTF-8",
    page_size: 4096,
  });
});

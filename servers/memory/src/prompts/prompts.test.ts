import { expect, it } from "vitest";
import { circle } from "../../test/session.ts";

it("recall returns search results as separate data, and completes names", async () => {
  const { connected } = await circle();
  const ask = async (topic: string) =>
    (await connected.client.getPrompt({ name: "recall", arguments: { topic } })).messages.map(
      ({ content }) => (content.type === "text" ? content.text : ""),
    );
  const [question, results] = await ask("ada");
  expect(question).toContain('about "ada"');
  expect(JSON.parse(results ?? "")).toMatchObject({
    entities: [{ name: "Ada" }],
    relations: [{ to: "Bo" }],
  });
  expect((await ask("nothing of it"))[1]).toBe("The search found nothing.");
  const { completion } = await connected.client.complete({
    ref: { type: "ref/prompt", name: "recall" },
    argument: { name: "topic", value: "b" },
  });
  expect(completion.values).toEqual(["Bo"]);
});

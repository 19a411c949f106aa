import { expect, it } from "vitest";
import { startServer } from "./process.ts";

const MONTHS = "January February March April May June July August September October".split(" ");

/** A server with an empty memory, and the observations that a search shows of an entity. */
async function memory() {
  const { data: call } = await startServer();
  const findFacts = async (query: string, name: string) => {
    const { entities } = await call("search_nodes", { query });
    const shownEntities = entities as { name: string; observations?: string[] }[];
    return shownEntities.find((entity) => entity.name === name)?.observations ?? [];
  };
  return { call, findFacts };
}

it("shows facts of the person whom a question names, however often others mention that person", async () => {
  const { call, findFacts } = await memory();
  const alex = [
    "lives in Munich, Lindwurmstrasse 12",
    ...Array.from({ length: 128 }, (_, at) => `prefers option ${at} of the plan`),
  ];
  await call("create_entities", {
    entities: [{ name: "Alex", entityType: "person", observations: alex.slice(0, 100) }],
  });
  await call("add_observations", {
    observations: [{ entityName: "Alex", contents: alex.slice(100) }],
  });
  await call("create_entities", {
    entities: Array.from({ length: 8 }, (_, person) => ({
      name: `Colleague ${person}`,
      entityType: "person",
      observations: MONTHS.map(
        (month, at) => `met Alex in session ${10 * person + at}, in ${month}`,
      ),
    })),
  });
  await call("create_entities", {
    entities: Array.from({ length: 20 }, (_, at) => ({
      name: `Project ${at}`,
      entityType: "project",
      observations: [`uses library ${at}`],
    })),
  });
  // No fact has the words of the question, so the newest are shown.
  for (const query of ["What is Alex's address?", "where is Alex's flat"])
    expect(await findFacts(query, "Alex"), query).toContain(alex.at(-1));
  expect((await findFacts("Where does Alex live?", "Alex"))[0]).toBe(alex[0]);
  // What others say about that person has the rest of the space.
  expect(await findFacts("Did Alex meet Colleague 3 in June?", "Colleague 3")).toContain(
    "met Alex in session 35, in June",
  );
});

it("answers about a person with that person's facts, and mostly with facts", async () => {
  const { call } = await memory();
  const people = ["Yuki", "Mira", "Tomas", "Ines", "Karl", "Lena", "Omar", "Petra", "Rosa"];
  const things = ["coffee", "chess", "the cello", "cycling", "old maps"];
  await call("create_entities", {
    entities: people.map((name, at) => ({
      name,
      entityType: "person",
      observations: [
        `birthday is on ${at + 3} ${MONTHS[at]}`,
        `works as a ${["nurse", "teacher", "baker", "pilot"][at % 4]} in the old town`,
        ...things.map(
          (thing, index) =>
            `likes ${thing}, and has for ${at + index + 2} years, mostly on weekends with friends from the club`,
        ),
        ...things.map(
          (thing, index) =>
            `talked about ${thing} with ${people[(at + index) % 9]} at the summer party, and wants to go on with that`,
        ),
      ],
    })),
  });
  const birthdays = await call("search_nodes", { query: "When is the birthday of Yuki?" });
  const { entities } = birthdays as { entities: { name: string; observations: string[] }[] };
  expect(entities[0]).toMatchObject({ name: "Yuki" });
  expect(entities[0]?.observations[0]).toBe("birthday is on 3 January");
  // Others have only the word "birthday".
  expect(JSON.stringify(entities.slice(1))).not.toContain("birthday");
  let [facts, characters] = [0, 0];
  for (const query of [
    "What does Mira like?",
    "Who is a pilot?",
    "When is Karl's birthday?",
    "Where does Rosa work?",
    "What did Omar say about chess?",
    "cello",
    "Does Lena like old maps?",
    "Who talked with Tomas?",
    "Petra",
    "the old town",
  ]) {
    const answer = await call("search_nodes", { query });
    const size = JSON.stringify(answer).length;
    expect(size, query).toBeLessThanOrEqual(2_100);
    characters += size;
    for (const { observations } of answer.entities as { observations: string[] }[])
      facts += observations.join("").length;
  }
  // Two in three characters, even where nine people have one short fact each.
  expect(facts / characters).toBeGreaterThan(0.65);
});

it("lists the newest for a question about what is new", async () => {
  const { call, findFacts } = await memory();
  await call("create_entities", {
    entities: [{ name: "Ferry", entityType: "ship", observations: ["leaves at noon now"] }],
  });
  for (const query of ["What is new?", "What happened last week?", ""])
    expect(await findFacts(query, "Ferry"), query).toEqual(["leaves at noon now"]);
});

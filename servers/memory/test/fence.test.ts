import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Connected, connectStdio } from "@refmcp/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const MONTHS = "January February March April May June July August September October".split(" ");

let folder: string;
let server: Connected;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-fence-"));
  server = await connectStdio(BIN, { args: ["--file", join(folder, "memory.db")] });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent, isError, content } = await server.client.callTool({
    name,
    arguments: args,
  });
  if (isError === true) throw new Error(JSON.stringify(content));
  return { ...(structuredContent as object) };
}

/** The observations that a search shows of an entity. */
async function shown(query: string, name: string): Promise<string[]> {
  const { entities } = await call("search_nodes", { query });
  const found = (entities as { name: string; observations?: string[] }[]).find(
    (entity) => entity.name === name,
  );
  return found?.observations ?? [];
}

it("shows facts of the person whom a question names, however often others mention that person", async () => {
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
    expect(await shown(query, "Alex"), query).toContain(alex.at(-1));
  expect((await shown("Where does Alex live?", "Alex"))[0]).toBe(alex[0]);
  // What others say about that person has the rest of the space.
  expect(await shown("Did Alex meet Colleague 3 in June?", "Colleague 3")).toContain(
    "met Alex in session 35, in June",
  );
});

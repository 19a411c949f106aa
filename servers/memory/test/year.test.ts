import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ServerProcess, startServer } from "./process.ts";
import { temporary } from "./temporary.ts";

const PEOPLE = ["Alex", "Bo", "Cy", "Dana", "Eli", "Finn"];
const CITIES = "Graz Linz Wien Bonn Kiel Ulm Bern Genf Rom Turin Oslo Riga".split(" ");

const servers: ServerProcess[] = [];
let calls = 0;

/** Calls a tool of one of the two processes in turn. */
async function call(tool: string, args: object): Promise<Record<string, unknown>> {
  calls += 1;
  return (await servers[calls % 2]?.data(tool, args)) ?? {};
}

async function observationsOf(name: string): Promise<unknown> {
  const { entities } = await call("open_nodes", { names: [name] });
  return (entities as { observations: unknown }[])[0]?.observations;
}

const add = (entityName: string, contents: string[], replaces?: string[]) =>
  call("add_observations", { observations: [{ entityName, contents, replaces }] });

it("keeps a year of notes by two processes, though one is killed each month", async () => {
  const file = join(await temporary(), "memory.db");
  for (const _ of [0, 1]) servers.push(await startServer(["--file", file]));
  await call("create_entities", {
    entities: PEOPLE.map((name) => ({
      name,
      entityType: "person",
      observations: [`lives in ${CITIES.at(-1)}`],
    })),
  });
  const undone: unknown[] = [];
  for (const [month, city] of CITIES.entries()) {
    for (const [at, name] of PEOPLE.entries())
      await add(name, [`met ${PEOPLE[(at + 1) % 6]} in month ${month} about project ${at}`]);
    // A person moves: the answer names the old address, and the next call retires it.
    const name = PEOPLE[month % 6] ?? "";
    const { note } = await add(name, [`lives in ${city}`]);
    const [id = ""] = /#\d+/.exec(String(note)) ?? [];
    expect(id).toMatch(/^#\d+$/);
    await add(name, [`lives in ${city}`], [id]);
    // A mistake, taken back by the other process.
    const { change_id } = await call("delete_entities", { entityNames: [PEOPLE[(month + 3) % 6]] });
    undone.push((await call("undo_memory_change", { change_id })).change_id);
    // One process dies without notice.
    const victim = servers[month % 2];
    const gone = once(victim?.child ?? process, "exit");
    victim?.child.kill("SIGKILL");
    await gone;
    servers[month % 2] = await startServer(["--file", file]);
  }
  expect(calls).toBeGreaterThan(120);
  for (const [at, name] of PEOPLE.entries()) {
    const facts = await observationsOf(name);
    expect(facts).toContain(`lives in ${CITIES[at + 6]}`);
    expect((facts as string[]).filter((fact) => fact.startsWith("lives"))).toHaveLength(1);
    expect(facts).toHaveLength(13);
    const { entities } = await call("search_nodes", { query: `Where does ${name} live?` });
    const [first] = entities as { name: string; observations: string[] }[];
    expect([first?.name, first?.observations[0]]).toEqual([name, `lives in ${CITIES[at + 6]}`]);
  }
  const { changes } = await call("recent_changes", { limit: 100 });
  expect(changes).toHaveLength(100);
  expect(JSON.stringify(changes)).toContain(`"change_id":${undone.at(-1)}`);
  expect(await call("memory_stats", {})).toMatchObject({
    total: { entities: 6, observations: 6 * 13, relations: 0 },
  });
});

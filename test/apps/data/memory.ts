// A realistic memory of 400 entities for pictures and tests: a research network of five cities, the same on every run.

export interface Entity {
  readonly name: string;
  readonly entityType: string;
  readonly observations: string[];
}

export interface Relation {
  readonly from: string;
  readonly relationType: string;
  readonly to: string;
}

const FIRST =
  "Amara Anders Beatriz Bilal Carla Chidi Daria Diego Elif Emeka Farah Felipe Greta Hiroshi Ida Imani Jakob Joana Kenji Kwame Leila Lars Mariana Mei Nadia Njoroge Olga Oskar Paulo Priya Rania Rui Sofia Sven Teresa Tomas Uma Viktor Wanjiru Yuki".split(
    " ",
  );
const LAST =
  "Almeida Andersen Banda Carvalho Chen Costa Dahl Fernandes Fujita Hansen Ito Kamau Kimani Lopes Mbeki Moreira Mutua Nakamura Nilsen Novak Ochieng Okafor Olsen Pereira Rahman Sato Silva Suzuki Tavares Wanjala".split(
    " ",
  );
const CITIES = ["Lisbon", "Oslo", "Kyoto", "Nairobi", "Boston"];
const SUBJECTS = [
  "Tidal",
  "Glacier",
  "Seagrass",
  "Monsoon",
  "Harbor",
  "Permafrost",
  "Coral",
  "Estuary",
];
const KINDS = ["Atlas", "Survey", "Forecast", "Archive", "Sensors", "Model", "Commons", "Review"];
const ORGANIZATIONS = [
  "Institute of Marine Research",
  "University",
  "Weather Service",
  "Open Data Lab",
  "Port Authority",
];
const BOOKS = [
  "Silent Spring",
  "The Sea Around Us",
  "Cosmos",
  "The Periodic Table",
  "Flatland",
  "Gödel, Escher, Bach",
];

/** A memory that grew over years: clusters by city, a few hubs, and notes without relations. */
export function researchMemory(): { entities: Entity[]; relations: Relation[] } {
  let state = 20260727;
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const entities: Entity[] = [];
  const relations: Relation[] = [];
  const add = (name: string, entityType: string, ...observations: string[]) => {
    entities.push({ name, entityType, observations });
    return name;
  };
  const relate = (from: string, relationType: string, to: string) => {
    const isKnown = relations.some(
      (one) => one.from === from && one.to === to && one.relationType === relationType,
    );
    if (from !== to && !isKnown) relations.push({ from, relationType, to });
  };
  const people: string[][] = CITIES.map(() => []);
  const projects: string[][] = CITIES.map(() => []);
  const organizations: string[][] = CITIES.map(() => []);
  for (const [index, city] of CITIES.entries()) {
    add(city, "city", `has an office since ${2009 + index}`);
    for (const kind of ORGANIZATIONS) {
      const organization = add(
        `${city} ${kind}`,
        "organization",
        `${city}'s ${kind.toLowerCase()}`,
      );
      organizations[index]?.push(organization);
      relate(organization, "is based in", city);
    }
  }
  for (let index = 0; index < 64; index += 1) {
    const cluster = (index * 7) % 5;
    const subject = SUBJECTS[index % 8] ?? "";
    const project = add(
      `${subject} ${KINDS[Math.floor(index / 8)]}`,
      "project",
      `began in ${2012 + below(13)}`,
      `has a budget of ${40 + below(400)},000 euros`,
    );
    projects[cluster]?.push(project);
    if (index % 3 !== 0) relate(project, "is funded by", organizations[cluster]?.[below(5)] ?? "");
  }
  for (let index = 0; index < 284; index += 1) {
    const cluster = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4][below(10)] ?? 0;
    const first = FIRST[index % FIRST.length];
    const person = add(
      `${first} ${LAST[(index * 11 + Math.floor(index / FIRST.length)) % LAST.length]}`,
      "person",
      `joined in ${2010 + below(16)}`,
      `speaks ${["Portuguese", "Norwegian", "Japanese", "Swahili", "English"][cluster]}`,
    );
    const mine = projects[cluster] ?? [];
    // A few projects have most of the people.
    relate(person, "works on", mine[Math.floor(below(mine.length) * (below(100) / 100))] ?? "");
    if (index % 4 === 0) relate(person, "lives in", CITIES[cluster] ?? "");
    if (index % 6 === 0) relate(person, "leads", mine[below(mine.length)] ?? "");
    const known = people[cluster] ?? [];
    if (index % 5 === 0 && known.length > 0)
      relate(person, "was taught by", known[below(known.length)] ?? "");
    if (index % 23 === 0) relate(person, "works on", projects[(cluster + 1) % 5]?.[below(3)] ?? "");
    known.push(person);
  }
  for (const book of BOOKS) add(book, "book", "recommended by a colleague");
  for (let index = entities.length; index < 400; index += 1)
    add(
      `Meeting of 2025-${String(1 + (index % 12)).padStart(2, "0")}-${10 + (index % 19)}`,
      "note",
      "minutes are in the archive",
    );
  return { entities, relations };
}

import { resource } from "../context.ts";
import { entityRecord, namesBeginning } from "../graph/read/records.ts";
import { foldedName } from "../graph/text.ts";

const LISTED = 50;

export default resource({
  uriTemplate: "memory://entity/{name}",
  name: "entity",
  title: "An entity",
  description:
    "Everything stored about one entity, with times and sources. The name is percent-encoded.",
  mimeType: "application/json",
  read: async ({ name }, memory) =>
    JSON.stringify(await entityRecord(memory.store, name), undefined, 2),
  async list(memory) {
    const latest = await memory.store.read((reader) => reader.recentEntities({}, LISTED));
    return {
      resources: latest.map(({ name, type }) => ({
        uri: `memory://entity/${encodeURIComponent(name)}`,
        name: name.slice(0, 200).toWellFormed(),
        title: name.slice(0, 200).toWellFormed(),
        description: `Entity of type ${type}.`,
        mimeType: "application/json",
      })),
    };
  },
  complete: { name: (value, memory) => namesBeginning(memory.store, foldedName(value), 50) },
  watch: ({ name }, memory, changed) =>
    memory.watch.listen((touched) => {
      if (touched === "all" || touched.has(name)) changed();
    }),
});

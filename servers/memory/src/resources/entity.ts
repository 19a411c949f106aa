import { resource } from "../context.ts";
import { namesBeginning } from "../graph/read/names.ts";
import { openNodes } from "../graph/read/nodes.ts";

const LISTED = 50;
/** Characters: a resource may be larger than a tool's answer. */
const BUDGET = 1_000_000;

export default resource({
  uriTemplate: "memory://entity/{name}",
  name: "entity",
  title: "An entity",
  description:
    "Everything stored about one entity, with times and sources. The name is percent-encoded.",
  mimeType: "application/json",
  read: async ({ name }, { store }) =>
    JSON.stringify(await openNodes(store, { names: [name], history: true, budget: BUDGET })),
  async list({ store }) {
    const latest = await store.read((reader) => reader.recentEntities({}, LISTED));
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
  complete: { name: (value, { store }) => namesBeginning(store, value, 50) },
});

import { reasonOf, statusResource } from "@refmcp/sql";
import { resource } from "../context.ts";
import { statusOf } from "../database/reading/objects.ts";

export default resource({
  ...statusResource,
  async read({ database }, postgres, { signal }) {
    const status = async () =>
      await statusOf(postgres.at(postgres.names.length === 0 ? undefined : database), { signal });
    return await status().catch(reasonOf);
  },
  complete: {
    database: (value, postgres) => postgres.names.filter((name) => name.startsWith(value)),
  },
});

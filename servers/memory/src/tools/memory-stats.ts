import * as z from "zod";
import { tool } from "../context.ts";

const MAX_TYPES = 20;

export default tool({
  name: "memory_stats",
  title: "Memory statistics",
  description: "Get counts, entity types and the storage location.",
  toolset: "more",
  effect: "read",
  input: z.strictObject({}),
  output: z.object({ location: z.string() }),
  run(_input, memory, call) {
    const store = memory.of(call);
    return store.read(async (reader) => ({
      location: store.location,
      total: await reader.counts(),
      entity_types: await reader.typeCounts(MAX_TYPES),
    }));
  },
});

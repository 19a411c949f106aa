import * as z from "zod";
import { callerOf, count, counts, tool } from "../context.ts";

const types = z.array(z.object({ type: z.string(), count: count }));

export default tool({
  name: "memory_stats",
  title: "Memory statistics",
  description: "Get counts, types, unconnected entities and the storage location.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({}),
  output: z.object({
    store: z.string(),
    location: z.string(),
    space: z.string(),
    size_bytes: count,
    total: counts,
    deleted: counts,
    entity_types: types,
    relation_types: types,
    orphans: z.object({ count: count, names: z.array(z.string()) }),
    last_change: z.object({ change_id: count, at: z.string() }).optional(),
    imported_from: z.looseObject({ path: z.string(), at: z.string() }).optional(),
  }),
  run: (_input, memory, call) => memory.run("memoryStats", [memory.space], callerOf(call)),
});

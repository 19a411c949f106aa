import * as z from "zod";
import { tool } from "../context.ts";
import { memoryStats } from "../graph/read/records.ts";

export default tool({
  name: "memory_stats",
  title: "Memory statistics",
  description: "Get counts, types, unconnected entities and the storage location.",
  toolset: "more",
  effect: "read",
  input: z.strictObject({}),
  output: z.object({
    location: z.string(),
  }),
  run: (_input, memory, call) => memoryStats(memory.of(call), memory.space),
});

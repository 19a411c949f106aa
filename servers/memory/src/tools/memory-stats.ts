import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "memory_stats",
  title: "Memory statistics",
  description: "Get counts, types, unconnected entities and the storage location.",
  effect: "read",
  input: z.strictObject({}),
  output: z.object({
    location: z.string(),
  }),
  run: (_input, memory, call) => memory.run("memoryStats", [memory.space], call),
});

import { resource } from "../context.ts";

export default resource({
  uri: "memory://stats",
  name: "stats",
  title: "Memory statistics",
  description: "Counts, types and the storage location of this memory.",
  mimeType: "application/json",
  read: async (memory) =>
    JSON.stringify(await memory.run("memoryStats", [memory.space]), undefined, 2),
  watch: (memory, changed) => memory.watch.listen(() => changed()),
});

import { resource } from "../context.ts";

export default resource({
  uri: "memory://recent",
  name: "recent",
  title: "Recent changes",
  description: "The last 50 changes to this memory, newest first.",
  mimeType: "application/json",
  async read(memory) {
    const { changes } = await memory.run("recentChanges", [{ limit: 50, budget: 100_000 }]);
    return JSON.stringify({ changes }, undefined, 2);
  },
  watch: (memory, changed) => memory.watch.listen(() => changed()),
});

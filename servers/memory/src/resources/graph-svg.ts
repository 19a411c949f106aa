import { resource } from "../context.ts";

export default resource({
  uri: "memory://graph.svg",
  name: "graph.svg",
  title: "Picture of the graph",
  description: "A drawing of the graph; for a large graph, its most connected entities.",
  mimeType: "image/svg+xml",
  read: (memory) => memory.run("exportGraph", ["svg"]),
  watch: (memory, changed) => memory.watch.listen(() => changed()),
});

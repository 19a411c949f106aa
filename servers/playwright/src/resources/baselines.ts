import { resource } from "../context.ts";

export default resource({
  uri: "pw://baselines",
  name: "baselines",
  title: "Visual baselines",
  description: "The names of the visual baselines, and their folder.",
  mimeType: "application/json",
  async read({ baselines }) {
    return JSON.stringify(
      { folder: baselines.folder, baselines: await baselines.list() },
      undefined,
      2,
    );
  },
});

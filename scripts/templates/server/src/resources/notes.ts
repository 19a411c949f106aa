import { resource } from "../context.ts";

export default resource({
  uri: "sample://notes",
  name: "notes",
  title: "Notes",
  description: "The paths of all notes.",
  mimeType: "application/json",
  read: async (notes) => JSON.stringify(await notes.paths(), undefined, 2),
});

import { resource } from "../context.ts";

export default resource({
  uri: "pw://doctor",
  name: "doctor",
  title: "State of this server",
  description: "Which browser runs, from where, with its sandbox or without, and where artifacts are kept.",
  mimeType: "application/json",
  read: async (workbench) => JSON.stringify(await workbench.doctor(), undefined, 2),
});

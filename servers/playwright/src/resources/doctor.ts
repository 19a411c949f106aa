import { resource } from "../context.ts";

export default resource({
  uri: "pw://doctor",
  name: "doctor",
  title: "State of this server",
  description: "Which browser runs, from where, with its sandbox or without, and where artifacts are kept.",
  mimeType: "application/json",
  read: async (services) => JSON.stringify(await services.doctor(), undefined, 2),
});

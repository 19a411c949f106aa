import { resource } from "../context.ts";

export default resource({
  uri: "pw://doctor",
  name: "doctor",
  title: "State of this server",
  description: "Which browser is used, whether its sandbox is on, and where artifacts are kept.",
  mimeType: "application/json",
  read: async (services) => JSON.stringify(await services.doctor(), undefined, 2),
});

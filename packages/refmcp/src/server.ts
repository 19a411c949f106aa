// In the bundle, this is only the outline of the server.
export { server } from "./find-tools.ts";

export { installExtension } from "./binaries.ts";
export { startPostgres, type TestPostgres } from "./start.ts";

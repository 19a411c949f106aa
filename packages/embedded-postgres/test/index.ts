export { installExtension } from "./programs.ts";
export { startPostgres, type TestPostgres } from "./start.ts";

export { startPostgres, type TestPostgres } from "./start.ts";

import { readFileSync, writeSync } from "node:fs";
import { run } from "@refmcp/core/run";
import { normalArguments } from "./options.ts";
import { server } from "./server.ts";

const GRANT_SQL = readFileSync(new URL("./database/driver/grant.sql", import.meta.url), "utf8");

process.argv.splice(2, process.argv.length, ...normalArguments(process.argv.slice(2)));
if (process.argv.includes("--print-grant-sql")) writeSync(1, GRANT_SQL);
else await run(server);

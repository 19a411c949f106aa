import { run } from "@refmcp/core/run";
import { normalArguments } from "./options.ts";
import { server } from "./server.ts";

process.argv.splice(2, process.argv.length, ...normalArguments(process.argv.slice(2)));
await run(server);

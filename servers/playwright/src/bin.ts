import { run } from "@refmcp/core/run";
import { server } from "./server.ts";

await run(server);

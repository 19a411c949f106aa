import { run } from "@refmcp/core";
import { server } from "./server.ts";

await run(server);

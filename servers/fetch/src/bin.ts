import { run } from "@refmcp/launch";
import { server } from "./server.ts";

await run(server);

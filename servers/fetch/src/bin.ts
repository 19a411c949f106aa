/** The program: runs the server over the transport that its arguments ask for. */
import { run } from "@refmcp/core/run";
import { server } from "./server.ts";

await run(server);

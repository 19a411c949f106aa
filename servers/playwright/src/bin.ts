import { run } from "@refmcp/core/run";
import { startAhead } from "./browser/driver/process.ts";
import { server } from "./server.ts";

await run({
  ...server,
  open(opening) {
    startAhead();
    return server.open(opening);
  },
});

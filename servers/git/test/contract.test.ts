import { join } from "node:path";
import { contract, evals } from "@refmcp/testing";
import { afterAll } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { tasks } from "../evals/tasks.ts";
import { server } from "../src/server.ts";
import { disposeTemplate, world } from "./world.ts";

contract({
  server,
  bin: join(import.meta.dirname, "../dist/bin.js"),
  snapshots: import.meta.dirname,
  world,
});

if (isLong) evals(server, tasks, world);

afterAll(disposeTemplate);

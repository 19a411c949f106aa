import { fileURLToPath } from "node:url";
import { contract, evals } from "@refmcp/testing";
import { isLong } from "../../../vitest.long.ts";
import { tasks } from "../evals/tasks.ts";
import { server } from "../src/server.ts";
import { world } from "./fixture.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
contract({
  server,
  bin: here("../dist/bin.js"),
  snapshots: here("."),
  allTools: ["--allow-evaluate"],
  world,
});
if (isLong) evals(server, tasks, world);

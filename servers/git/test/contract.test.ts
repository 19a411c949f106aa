import { join } from "node:path";
import { contract } from "@refmcp/testing";
import { afterAll } from "vitest";
import { server } from "../src/server.ts";
import { disposeTemplate, world } from "./world.ts";

contract({
  server,
  bin: join(import.meta.dirname, "../dist/bin.js"),
  snapshots: import.meta.dirname,
  world,
});

afterAll(disposeTemplate);

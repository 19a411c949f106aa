import { join } from "node:path";
import { contract } from "@refmcp/core/testing";
import { afterAll } from "vitest";
import { server } from "../src/server.ts";
import { ALL_TOOLS, disposeTemplate, world } from "./world.ts";

contract({
  server,
  bin: join(import.meta.dirname, "../dist/bin.js"),
  surface: join(import.meta.dirname, "surface"),
  allTools: ALL_TOOLS,
  world,
});

afterAll(disposeTemplate);

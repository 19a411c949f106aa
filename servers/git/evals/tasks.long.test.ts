import { evals } from "@refmcp/testing";
import { afterAll } from "vitest";
import { server } from "../src/server.ts";
import { disposeTemplate, world } from "../test/world.ts";
import { tasks } from "./tasks.ts";

evals(server, tasks, world);

afterAll(disposeTemplate);

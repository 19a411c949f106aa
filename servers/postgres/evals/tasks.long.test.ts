import { evals } from "@refmcp/testing";
import { server } from "../src/server.ts";
import { world } from "../test/fixture.ts";
import { tasks } from "./tasks.ts";

evals(server, tasks, world);

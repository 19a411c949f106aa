import { talksTo } from "@refmcp/sql/testing";
import { server } from "../src/server.ts";

export const { talk, talkToProcess } = talksTo(server);

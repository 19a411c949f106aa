export { isRunning } from "@refmcp/testing";

import { later, type Talk, talksTo } from "@refmcp/sql/testing";
import { afterAll, beforeAll } from "vitest";
import { server } from "../src/server.ts";
import { type Lab, lab } from "./lab.ts";

export type { Talk } from "@refmcp/sql/testing";
export const { talk, talkToProcess } = talksTo(server);

/** A database for the tests of a file or group. */
export function labFor(setup = ""): Lab {
  let world: Lab | undefined;
  beforeAll(async () => {
    world = await lab(setup);
  });
  afterAll(() => world?.dispose());
  return later(() => world);
}

/** A client for the tests of a file or group. */
export function talkFor(args: () => readonly string[]): Talk {
  let server: Talk | undefined;
  beforeAll(async () => {
    server = await talk(args());
  });
  afterAll(() => server?.close());
  return later(() => server);
}

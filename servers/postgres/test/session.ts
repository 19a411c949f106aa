import { later, type Talk, talksTo } from "@refmcp/sql/testing";
import { afterAll, beforeAll } from "vitest";
import { server } from "../src/server.ts";
import { type Lab, lab } from "./lab.ts";

export type { Talk } from "@refmcp/sql/testing";
export const { talk, talkToProcess } = talksTo(server);

/** A database for the tests of a file or group. */
export function labFor(setup = ""): Lab {
  let made: Lab | undefined;
  beforeAll(async () => {
    made = await lab(setup);
  });
  afterAll(() => made?.dispose());
  return later(() => made);
}

/** A client for the tests of a file or group. */
export function talkFor(args: () => readonly string[]): Talk {
  let made: Talk | undefined;
  beforeAll(async () => {
    made = await talk(args());
  });
  afterAll(() => made?.close());
  return later(() => made);
}

import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Launch, Recorder, type RecorderOptions } from "./recorder.ts";
import type { Fields, Revision } from "./revisions.ts";

interface Conversation {
  readonly recorder: Recorder;
  /** The result of `initialize` or `server/discover`. */
  readonly opening: Fields;
}

/**
 * One connection for all tests of a `describe` block. After each test every line of the server must be valid; at the end every
 * request must have been answered, and the process must exit with 0.
 *
 * @param launch how the server is started; called after all earlier setup.
 */
export function conversation(
  launch: () => Launch | Promise<Launch>,
  revision: Revision,
  options?: RecorderOptions,
): Conversation {
  let recorder: Recorder | undefined;
  let opening: Fields | undefined;
  const there = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("The connection is not open yet.");
    return value;
  };
  beforeAll(async () => {
    recorder = new Recorder(await launch(), revision, options);
    opening = await recorder.open();
  });
  afterEach(() => {
    expect(there(recorder).takeProblems()).toEqual([]);
  });
  afterAll(async () => {
    if (recorder !== undefined) expect(await recorder.finish()).toEqual([]);
  });
  return {
    get recorder() {
      return there(recorder);
    },
    get opening() {
      return there(opening);
    },
  };
}

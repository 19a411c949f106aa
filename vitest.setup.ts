import {
  beforeAll,
  beforeEach,
  type RunnerTestSuite as Suite,
  type RunnerTask as Task,
} from "vitest";
import { Heartbeat } from "./vitest.alive.ts";

/** Under this name, so that helpers that also run outside vitest can use it. */
const SKIP = Symbol.for("refmcp.skip");

/**
 * Lets a helper skip the test, or in a `beforeAll` the suite, that asked for something that this machine lacks: what
 * `skip` of vitest's own test context throws has this effect in both places.
 */
// biome-ignore lint/correctness/noEmptyPattern: vitest wants its fixtures here, and gives the file second.
beforeAll(({}, file) => {
  Object.assign(globalThis, {
    [SKIP](reason: string): void {
      const test = firstTestOf(file);
      if (test === undefined) return;
      const { result } = test;
      try {
        test.context.skip(reason);
      } finally {
        // The context is borrowed: this test itself may run.
        if (result === undefined) delete test.result;
        else test.result = result;
      }
    },
  });
});

function firstTestOf(suite: Readonly<Suite>): Extract<Task, { type: "test" }> | undefined {
  for (const task of suite.tasks) {
    const test = task.type === "test" ? task : firstTestOf(task);
    if (test !== undefined) return test;
  }
  return undefined;
}

// Once for a process; a setup file runs again for each test file.
const HEART = Symbol.for("refmcp.heart");
const shared: { [HEART]?: Heartbeat } = Object(globalThis);
shared[HEART] ??= new Heartbeat();
const heart = shared[HEART];
beforeEach(({ task }) => heart.beat(`${task.file.name}: ${task.fullTestName}`));

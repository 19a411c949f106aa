import { beforeAll, type RunnerTestSuite as Suite, type RunnerTask as Task } from "vitest";

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
    const found = task.type === "test" ? task : firstTestOf(task);
    if (found !== undefined) return found;
  }
  return undefined;
}

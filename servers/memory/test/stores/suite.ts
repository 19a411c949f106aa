import { beforeEach, describe, onTestFinished } from "vitest";
import type { Store } from "../../src/graph/store/store.ts";
import { changeSuite } from "./change-suite.ts";
import { factSuite } from "./fact-suite.ts";
import type { Fixture } from "./help.ts";
import { readSuite } from "./read-suite.ts";
import { searchSuite } from "./search-suite.ts";
import { transferSuite } from "./transfer-suite.ts";
import { updateSuite } from "./update-suite.ts";

/**
 * The suite that every store passes.
 *
 * @param open an empty store, or another connection to the same graph, as another process has
 * @param isLong adds what takes too long for each change
 * @param isWhole false leaves out what does not depend on the store: order, paging and the shape of answers
 */
export function storeSuite(
  name: string,
  open: (same?: Store) => Promise<Store>,
  isLong: boolean,
  isWhole = true,
): void {
  describe(name, () => {
    const opened = async (same?: Store) => {
      const store = await open(same);
      onTestFinished(() => store.close());
      return store;
    };
    let store: Store;
    beforeEach(async () => {
      store = await opened();
    });
    const fixture: Fixture = {
      get store() {
        return store;
      },
      again: () => opened(store),
    };
    changeSuite(fixture);
    updateSuite(fixture);
    factSuite(fixture);
    if (isWhole) readSuite(fixture);
    searchSuite(fixture, isWhole, isLong);
    transferSuite(fixture);
  });
}

import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";
import type { Store } from "../../src/graph/store/store.ts";
import { changeSuite } from "./change-suite.ts";
import { factSuite } from "./fact-suite.ts";
import type { Given, StoreMaker } from "./help.ts";
import { readSuite } from "./read-suite.ts";
import { searchSuite } from "./search-suite.ts";
import { transferSuite } from "./transfer-suite.ts";
import { updateSuite } from "./update-suite.ts";

/**
 * The suite that every store passes.
 *
 * @param isWhole false leaves out what does not depend on the store: order, paging and the shape of answers
 */
export function storeSuite(
  name: string,
  makeMaker: () => Promise<StoreMaker>,
  isWhole = true,
): void {
  describe(name, () => {
    let maker: StoreMaker | undefined;
    let open: Store[] = [];

    const current = (): StoreMaker => {
      if (maker === undefined) throw new Error("no store maker");
      return maker;
    };
    const given: Given = {
      get store() {
        const [store] = open;
        if (store === undefined) throw new Error("no store");
        return store;
      },
      async again() {
        const store = await current().again(this.store);
        open.push(store);
        return store;
      },
    };

    beforeAll(async () => {
      maker = await makeMaker();
    });
    beforeEach(async () => {
      open.push(await current().fresh());
    });
    afterEach(async () => {
      for (const store of open.reverse()) await store.close();
      open = [];
    });
    afterAll(async () => {
      await maker?.dispose();
    });

    changeSuite(given);
    updateSuite(given);
    factSuite(given);
    if (isWhole) readSuite(given);
    searchSuite(given, isWhole);
    transferSuite(given);
  });
}

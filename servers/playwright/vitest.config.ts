import { mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

export default mergeConfig(shared, {
  test: {
    globalSetup: ["test/ensure-browser.ts"],
    setupFiles: ["test/setup.ts"],
    // Most tests wait for a browser. By default, Vitest uses one worker on two cores.
    maxWorkers: 2,
    // What a driver's process ignores, too: Playwright's, for an answer about a page that has been closed.
    onUnhandledError: ({ message }) => !/was not bound in the connection/.test(message),
  },
});

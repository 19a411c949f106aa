import { mergeConfig } from "vitest/config";
import shared from "../../vitest.config.ts";

export default mergeConfig(shared, {
  test: {
    // The authorization server of the OAuth tests warns that its in-memory store and defaults are not for production.
    onConsoleLog: (log: string) => !log.includes("oidc-provider "),
  },
});

import { mergeConfig } from "vitest/config";
import shared from "../../vitest.shared.ts";

const permissions = "**/permissions.test.ts";

export default mergeConfig(shared, {
  test: {
    // The authorization server of the OAuth tests warns that its in-memory store and defaults are not for production.
    onConsoleLog: (log: string) => !log.includes("oidc-provider "),
    projects: [
      { extends: true, test: { name: "core", exclude: [permissions] } },
      // It permanently drops root privileges, so it runs in a separate process.
      { ...shared, test: { ...shared.test, name: "permissions", include: [permissions], isolate: true } },
    ],
  },
});

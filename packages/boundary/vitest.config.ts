import { mergeConfig } from "vitest/config";
import shared, { isLong } from "../../vitest.config.ts";

const permissions = "**/permissions.test.ts";

export default mergeConfig(shared, {
  test: {
    projects: [
      { extends: true, test: { name: "boundary", exclude: [permissions] } },
      // It permanently drops root privileges, so it runs in a separate process.
      {
        ...shared,
        test: {
          ...shared.test,
          name: "permissions",
          include: isLong ? [] : [permissions],
          isolate: true,
        },
      },
    ],
  },
});

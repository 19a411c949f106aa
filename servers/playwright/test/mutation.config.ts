import { defineConfig } from "vitest/config";
import base from "../vitest.config.ts";

const { MUTATION = "{}", MUTATION_REPORT = "report.json" } = process.env;
const { file = "", from = "", to = "" } = JSON.parse(MUTATION);

/** Runs tests on a source file with one change, which `secret-mutations.long.test.ts` gives. */
export default defineConfig({
  ...base,
  plugins: [
    {
      name: "mutation",
      enforce: "pre",
      transform(code, id) {
        if (!id.replaceAll("\\", "/").endsWith(`/src/browser/${file}`)) return undefined;
        if (!code.includes(from)) this.error(`${file} has no ${from}`);
        return code.replace(from, () => to);
      },
    },
  ],
  test: { ...base.test, reporters: ["json"], outputFile: MUTATION_REPORT },
});

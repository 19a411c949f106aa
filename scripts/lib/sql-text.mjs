import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const READ_SQL = /readFileSync\(new URL\("([^"]+\.sql)", import\.meta\.url\), "utf8"\)/g;

/**
 * Puts SQL files into a bundle: the call that reads one in the sources becomes its text.
 *
 * @type {import("esbuild").Plugin}
 */
export const sqlText = {
  name: "sql-text",
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const names = [...source.matchAll(READ_SQL)].map(([, name = ""]) => name);
      if (names.length === 0) return undefined;
      const files = names.map((name) => join(dirname(path), name));
      const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
      const contents = source.replace(READ_SQL, () => JSON.stringify(texts.shift()));
      return { contents, loader: "ts", watchFiles: files };
    });
  },
};

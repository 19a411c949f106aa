import { fileURLToPath } from "node:url";

/**
 * The file of a server's worker thread or child process: `<name>.worker.js` next to the server's bundle, or its source
 * where Node.js runs the sources (24 and newer). Tests use `vitest.worker-file.ts` instead.
 *
 * @param importer `import.meta.url` of the module that starts it.
 */
export function workerFile(name: string, importer: string): string {
  return fileURLToPath(
    new URL(`${name}.worker${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer),
  );
}

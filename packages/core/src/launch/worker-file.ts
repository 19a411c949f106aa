import { fileURLToPath } from "node:url";

/**
 * The file of a worker thread or child process that a server starts: `<name>.worker.js` next to the server's bundle.
 * Tests, which run from the sources, use the one of `vitest.worker-file.ts` instead.
 *
 * @param importer `import.meta.url` of the module that starts it.
 */
export function workerFile(name: string, importer: string): string {
  return fileURLToPath(new URL(`${name}.worker.js`, importer));
}

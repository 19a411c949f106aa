import { fileURLToPath } from "node:url";

/**
 * The file of a server's worker thread or child process: `<name>.worker.js` next to the server's bundle. Tests run from
 * the sources and use `vitest.worker-file.ts` instead.
 *
 * @param importer `import.meta.url` of the module that starts it.
 */
export function workerFile(name: string, importer: string): string {
  return fileURLToPath(new URL(`${name}.worker.js`, importer));
}

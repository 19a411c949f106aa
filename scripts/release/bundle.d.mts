/** Makes the bundle of a server that is built; its path. */
export function makeBundle(name: string, destination: string): Promise<string>;
/** The versions of Node.js that a server's bundle runs on. */
export function bundleRuntime(manifest: {
  engines: { node: string };
  dependencies?: Record<string, string>;
}): string;

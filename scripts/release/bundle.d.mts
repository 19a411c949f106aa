/** Makes the bundle of a server that is built; its path. */
export function makeBundle(
  name: string,
  destination: string,
  options?: { dependencies?: boolean },
): Promise<string>;

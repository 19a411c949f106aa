/** Packs a workspace package as it is published; the tarball's path. */
export function pack(folder: string, destination: string): Promise<string>;

/** Packs a workspace package as published; the tarball's path. */
export function pack(folder: string, destination: string): Promise<string>;

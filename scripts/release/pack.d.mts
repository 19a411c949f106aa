/** Packs a workspace package as it is published; the tarball's path. */
export function pack(folder: string, destination: string): Promise<string>;
/** Unpacks a tarball of npm; the path of the package in it. */
export function unpack(tarball: string, destination: string): Promise<string>;

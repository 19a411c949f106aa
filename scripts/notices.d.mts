import type { Metafile } from "esbuild";

/** The names of files with licenses. */
export const LICENSE_FILE: RegExp;
/** The folders of the npm packages that a bundle was made from. */
export function bundledPackages(metafile: Metafile): string[];
/** The licenses of packages as a text. */
export function notices(
  owner: string,
  folders: readonly string[],
  comments?: readonly string[],
): Promise<string>;

import { readFile } from "node:fs/promises";
import { unzipSync } from "fflate";

/** The files of a zip by name. */
export const unpack = async (path: string): Promise<Map<string, Uint8Array>> =>
  new Map(Object.entries(unzipSync(await readFile(path))));

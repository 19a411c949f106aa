import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { type UnzipFileInfo, unzipSync, zipSync } from "fflate";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { NotKept } from "./disk.ts";

/** Larger zips, packed or unpacked, are not read: they would fill the memory. */
const MAX_ZIP = 100_000_000;
const MAX_UNPACKED = 300_000_000;

/**
 * Files of a zip by name.
 *
 * @throws NotKept if it unpacks to more than 300 MB, or is not a zip.
 */
async function unpack(path: string): Promise<Map<string, Uint8Array>> {
  const notKept = (why: string) => new NotKept(`${why}, so secrets cannot be removed from it`);
  if ((await stat(path)).size > MAX_ZIP) throw notKept("too large");
  let sum = 0;
  const filter = (file: UnzipFileInfo) => {
    sum += file.originalSize;
    if (sum > MAX_UNPACKED) throw notKept("too large");
    return true;
  };
  try {
    return new Map(Object.entries(unzipSync(await readFile(path), { filter })));
  } catch (error) {
    throw error instanceof NotKept ? error : notKept("not readable");
  }
}

/**
 * Removes secrets from the texts in a zip, in place: of the original nothing stays, whatever happens.
 *
 * @throws NotKept if it is too large for that, or not readable.
 */
export async function redactZip(path: string, secrets: SecretsInRun): Promise<void> {
  const files = await unpack(path);
  // Resources are named by a hash of their content, with which guesses of a secret could be compared.
  const names = new Map<string, string>();
  const texts = [...files].map(([name, bytes]) => {
    if (/\.(?:jpe?g|png|webp|woff2?|gif)$/.test(name)) return { name, bytes, text: undefined };
    const text = Buffer.from(bytes).toString("utf8");
    const redacted = secrets.redactFile(text);
    const hash = /^resources\/([0-9a-f]{40})\b/.exec(name)?.[1];
    if (redacted !== text && hash !== undefined) names.set(hash, randomBytes(20).toString("hex"));
    return { name, bytes, text: redacted === text && hash !== undefined ? undefined : redacted };
  });
  const renamed = (text: string) =>
    [...names].reduce((now, [from, to]) => now.replaceAll(from, to), text);
  const clean: Record<string, Uint8Array> = {};
  for (const { name, bytes, text } of texts)
    clean[renamed(name)] = text === undefined ? bytes : Buffer.from(renamed(text), "utf8");
  await writeFile(path, zipSync(clean), { mode: 0o600 });
}

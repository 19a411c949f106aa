import { randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { ToolError } from "@refmcp/boundary/answer";
import { type UnzipFileInfo, unzipSync, zipSync } from "fflate";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { NotKept } from "./disk.ts";

/** Larger zips, packed or unpacked, are not read: they would fill the memory. */
const MAX_ZIP = 100_000_000;
const MAX_UNPACKED = 300_000_000;

/**
 * Files of a zip by name.
 *
 * @throws ToolError `too_large` for a zip that unpacks to more than 300 MB, `invalid` for a file that is not a zip.
 */
export async function unpack(path: string): Promise<Map<string, Uint8Array>> {
  const { size } = await stat(path);
  const tooLarge = (bytes: number) => {
    const limits = `${MAX_ZIP / 1e6} MB packed and ${MAX_UNPACKED / 1e6} MB unpacked`;
    return new ToolError(
      "too_large",
      `${path} is ${Math.round(bytes / 1e6)} MB; the limit is ${limits}.`,
      {
        hint: "Open it with: npx playwright show-trace",
      },
    );
  };
  if (size > MAX_ZIP) throw tooLarge(size);
  let sum = 0;
  const filter = (file: UnzipFileInfo) => {
    sum += file.originalSize;
    if (sum > MAX_UNPACKED) throw tooLarge(sum);
    return true;
  };
  try {
    return new Map(Object.entries(unzipSync(await readFile(path), { filter })));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError("invalid", `${path} is not a readable zip file.`, {
      hint: "Pass a trace.zip written by Playwright.",
      cause: error,
    });
  }
}

/**
 * Removes secrets from the texts in a zip, in place: of the original nothing stays, whatever happens.
 *
 * @throws NotKept if it is too large for that, or not readable.
 */
export async function redactZip(path: string, secrets: SecretsInRun): Promise<void> {
  const files = await unpack(path).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    const why = error.kind === "too_large" ? "too large" : "not readable";
    throw new NotKept(`${why}, so secrets cannot be removed from it`);
  });
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

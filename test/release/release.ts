import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { ROOT } from "../servers.ts";

/** The version of all packages. */
export const { version: VERSION }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, "packages", "core", "package.json"), "utf8"),
);
let releaseFolder: Promise<string> | undefined;

/** Runs the script that makes everything that a release publishes. */
export const artifacts = (tag: string, folder: string) =>
  promisify(execFile)(process.execPath, [
    join(ROOT, "scripts", "release", "artifacts.mjs"),
    tag,
    folder,
  ]);

/** A folder with everything that a release publishes, made once for all tests of a process. */
export function madeRelease(): Promise<string> {
  releaseFolder ??= mkdtemp(join(inject("shared"), "release-")).then(async (folder) => {
    await artifacts(`v${VERSION}`, folder);
    return folder;
  });
  return releaseFolder;
}

/** A package as published. @param name `core`, `server-git` or `refmcp` */
export async function tarballOf(name: string): Promise<string> {
  const prefix = name === "refmcp" ? name : `refmcp-${name}`;
  return join(await madeRelease(), "packages", `${prefix}-${VERSION}.tgz`);
}

/** The MCP bundle of a server as published. */
export async function bundleOf(server: string): Promise<string> {
  return join(await madeRelease(), "assets", `refmcp-${server}-${VERSION}.mcpb`);
}

/** The sections of a THIRD_PARTY_NOTICES by their titles, for example `zod 4.6.7`. */
export function sectionsOf(notices: string): Map<string, string> {
  const [, ...sections] = notices.split(/^={80}\n/m);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end + 1)];
    }),
  );
}

import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { afterAll, beforeAll } from "vitest";
import { type Bundle, bundleProbe } from "../bundle.ts";

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Runs a built server with these words in a directory, with `input` as its stdin. */
export function shell(
  file: string,
  words: readonly string[],
  { cwd = tmpdir(), input = "" } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file, ...words], { cwd }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr, code: child.exitCode }),
    );
    child.stdin?.end(input);
  });
}

/** The probe server in one file, for a file of tests. */
export function useProbe(): () => Bundle {
  let probe: Bundle;
  beforeAll(async () => {
    probe = await bundleProbe();
  });
  afterAll(() => probe?.remove());
  return () => probe;
}

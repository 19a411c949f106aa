import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, SERVERS } from "../servers.ts";

it("every module of a bench folder is a benchmark; what they share is in bench/lib", () => {
  const folders = ["test", ...SERVERS.map((name) => `servers/${name}`)].map((folder) =>
    join(folder, "bench"),
  );
  const modules = folders
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => join(folder, file)))
    .filter((path) => path.endsWith(".mjs"));
  expect(modules.length).toBeGreaterThan(0);
  for (const path of modules) {
    const text = readFileSync(join(ROOT, path), "utf8");
    expect(text, path).toMatch(/^export const title = /m);
    expect(text, path).toMatch(/^export async function bench\(/m);
  }
});

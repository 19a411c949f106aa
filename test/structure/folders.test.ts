import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, SERVERS, serverFolder } from "../servers.ts";
import { codeOf, filesOf, importsOf, isTest, layoutProblems, nameProblems } from "./layout.ts";

it.each(SERVERS)("the %s server has the required layout", (name) => {
  const folder = serverFolder(name);
  const problems = [...layoutProblems(folder), ...nameProblems(folder, name, namesIn(folder))];
  if (problems.length > 0) throw new Error(problems.join("\n"));
});

/** What the sources of tools and prompts name: their own names and the older ones. */
function namesIn(folder: string): string[] {
  const source = join(folder, "src");
  return filesOf(source)
    .filter((file) => /^(?:tools|prompts)/.test(file) && !isTest(file))
    .flatMap(
      (file) =>
        readFileSync(join(source, file), "utf8").match(/(?<=")[a-z0-9]+_[a-z0-9_]+(?=")/g) ?? [],
    );
}

// Node.js loses a timeout that only AbortSignal.any() holds at the next garbage collection.
it("packages limit time with startDeadline, not with AbortSignal.timeout", () => {
  const users = filesOf(join(ROOT, "packages"))
    .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file) && !isTest(file))
    .filter((file) =>
      /AbortSignal\s*\.\s*timeout\b/.test(
        codeOf(readFileSync(join(ROOT, "packages", file), "utf8")),
      ),
    );
  expect(users, "Use startDeadline of @refmcp/boundary instead of AbortSignal.timeout").toEqual([]);
});

// Node.js's recursive mkdir never ends below /proc.
it("directories are created with ensureDirectory, not with a recursive mkdir", () => {
  const users = ["packages", "servers"].flatMap((folder) =>
    filesOf(join(ROOT, folder))
      .filter((file) => /^[\w-]+\/src\/.*\.ts$/.test(file) && !isTest(file))
      .filter((file) =>
        /\bmkdir(?:Sync)?\([^;]*\brecursive\b/.test(
          codeOf(readFileSync(join(ROOT, folder, file), "utf8")),
        ),
      ),
  );
  expect(users, "Use ensureDirectory of @refmcp/boundary instead of a recursive mkdir").toEqual([]);
});

describe("core", () => {
  const source = join(ROOT, "packages", "core", "src");
  const read = (folder: string) =>
    filesOf(join(source, folder))
      .filter((file) => !isTest(file))
      .map((file) => ({
        file: `${folder}/${file}`,
        text: readFileSync(join(source, folder, file), "utf8"),
      }));

  /** Each may use those before it, including for types. */
  const LAYERS = ["log.ts", "define", "engine", "bind", "transport", "run"];

  it("has layers, with imports only downwards", () => {
    const layerOf = (file: string) => LAYERS.indexOf(file.split("/")[0] ?? "");
    const upward: string[] = [];
    for (const [own, layer] of LAYERS.entries()) {
      const files = layer.endsWith(".ts")
        ? [{ file: layer, text: readFileSync(join(source, layer), "utf8") }]
        : read(layer);
      for (const { file, text } of files) {
        const imported = importsOf(text).filter((from) => from.startsWith("."));
        for (const from of imported) {
          const target = posix.join(posix.dirname(file), from);
          if (layerOf(target) < 0 || layerOf(target) > own)
            upward.push(`${file} imports ${target}`);
        }
      }
    }
    expect(upward, "Move what is shared into the lower layer, or pass it as a parameter").toEqual(
      [],
    );
  });

  it("runs without the SDK, which is the client and the oracle in tests", () => {
    const manifest = JSON.parse(
      readFileSync(join(ROOT, "packages", "core", "package.json"), "utf8"),
    );
    expect(
      Object.keys(manifest.dependencies).filter((name) => name.startsWith("@modelcontextprotocol")),
    ).toEqual([]);
    for (const { file, text } of LAYERS.filter((layer) => !layer.endsWith(".ts")).flatMap(read))
      expect(
        importsOf(text).filter((from) => from.startsWith("@modelcontextprotocol")),
        file,
      ).toEqual([]);
  });

  it("sets request handlers in bind only", () => {
    const others = LAYERS.filter((layer) => layer !== "bind" && !layer.endsWith(".ts"));
    for (const { file, text } of others.flatMap(read))
      expect(text, file).not.toMatch(
        /setRequestHandler|registerTool|registerResource|registerPrompt/,
      );
  });

  it("exports 38 names: 30 for definitions, and 8 to serve them in ways of your own", () => {
    const index = readFileSync(join(source, "index.ts"), "utf8");
    const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
      (list ?? "").split(",").filter((name) => name.trim() !== ""),
    );
    expect(names.length, "Export it from @refmcp/core/run").toBeLessThanOrEqual(38);
  });
});

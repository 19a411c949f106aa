import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ROOT, SERVERS, serverBin, serverFolder } from "../servers.ts";
import { registryEntry } from "./registry-schema.ts";

const execute = promisify(execFile);
const entryOf = async (name: string) =>
  registryEntry.parse(JSON.parse(await readFile(join(serverFolder(name), "server.json"), "utf8")));

describe.each(SERVERS)("server.json of the %s server", (name) => {
  it("is valid for the registry, for this package", async () => {
    const entry = await entryOf(name);
    const manifest = JSON.parse(await readFile(join(serverFolder(name), "package.json"), "utf8"));
    // The registry compares the two to check that both have the same owner.
    expect(entry.name).toBe(manifest.mcpName);
    expect(entry.packages).toMatchObject([
      { registryType: "npm", identifier: manifest.name },
      { registryType: "oci", identifier: `ghcr.io/refmcp/server-${name}:${manifest.version}` },
    ]);
    // The registry compares this label as well.
    expect(entry.name).toBe(`io.github.refmcp/server-${name}`);
    const dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
    expect(dockerfile).toContain(
      "LABEL io.modelcontextprotocol.server.name=io.github.refmcp/server-$SERVER ",
    );
  });

  it("asks for the same variables for the image, with paths in the container", async () => {
    const [npm, image] = (await entryOf(name)).packages;
    const named = (entry: typeof npm) =>
      entry?.environmentVariables?.map((variable) => variable.name);
    expect(named(image)).toEqual(named(npm));
    for (const { format, placeholder, isRequired } of image?.environmentVariables ?? [])
      if (placeholder !== undefined)
        expect({ format, isRequired }).toEqual({ format: "string", isRequired: true });
    const dockerfile = await readFile(join(ROOT, "Dockerfile"), "utf8");
    for (const { value = "" } of image?.runtimeArguments ?? []) {
      const [, target = ""] = /,dst=(\/\w+)$/.exec(value) ?? [];
      expect(dockerfile).toMatch(new RegExp(`^(VOLUME|WORKDIR) ${target}$`, "m"));
    }
  });

  it("lists variables that the server has, with valid defaults", async () => {
    const [npm] = (await entryOf(name)).packages;
    const variables = npm?.environmentVariables ?? [];
    for (const variable of variables) {
      // A server that does not know the variable would ignore its value.
      if (
        ["string", "filepath"].includes(variable.format ?? "string") &&
        variable.choices === undefined
      )
        continue;
      const refused: { code: number; stderr: string } = await execute(
        process.execPath,
        [serverBin(name), "tools"],
        { env: { PATH: process.env.PATH ?? "", [variable.name]: "%nonsense%" } },
      ).catch((error) => error);
      expect(refused.code, variable.name).toBe(2);
      expect(refused.stderr).toContain(variable.name);
    }
    const defaults = variables.flatMap((variable) =>
      variable.default === undefined ? [] : [[variable.name, variable.default]],
    );
    const { stdout } = await execute(process.execPath, [serverBin(name), "tools"], {
      env: { PATH: process.env.PATH ?? "", ...Object.fromEntries(defaults) },
    });
    expect(stdout).not.toBe("");
  });

  it("lists none that would make it listen instead of using stdio", async () => {
    const [npm] = (await entryOf(name)).packages;
    expect(npm?.transport).toEqual({ type: "stdio" });
    expect(
      npm?.environmentVariables?.filter((variable) =>
        /_(HTTP|OAUTH|AUTH|SSE|WEBSOCKET|TLS)(_|$)/.test(variable.name),
      ),
    ).toEqual([]);
  });

  it("marks what is secret, and gives no default for it", async () => {
    const [npm] = (await entryOf(name)).packages;
    for (const variable of npm?.environmentVariables ?? []) {
      if (/SECRET|TOKEN|PASSWORD|DATABASE_URL/.test(variable.name))
        expect(variable.isSecret, variable.name).toBe(true);
      if (variable.isSecret === true) expect(variable.default, variable.name).toBeUndefined();
    }
  });
});

describe("the rules of the registry", () => {
  const good = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "io.github.refmcp/server-x",
    description: "Does x.",
    version: "1.0.0",
    packages: [
      { registryType: "npm", identifier: "x", version: "1.0.0", transport: { type: "stdio" } },
    ],
  };
  const [npm] = good.packages;
  const { version: _, ...image } = { ...npm, registryType: "oci", identifier: "ghcr.io/x/y:1.0.0" };

  it("accept an image with its tag", () => {
    expect(() => registryEntry.parse({ ...good, packages: [image] })).not.toThrow();
  });

  it.each<[string, object]>([
    ["a name without its namespace", { name: "server-x" }],
    ["a description of 101 characters", { description: "x".repeat(101) }],
    ["a range for a version", { version: "^1.0.0" }],
    ["the tag latest", { packages: [{ ...npm, version: "latest" }] }],
    [
      "an image with a version in addition to its tag",
      { packages: [{ ...image, version: "1.0.0" }] },
    ],
    ["an image without a tag", { packages: [{ ...image, identifier: "ghcr.io/x/y" }] }],
    [
      "a name in braces without a variable",
      {
        packages: [
          { ...image, runtimeArguments: [{ type: "named", name: "--mount", value: "src={x}" }] },
        ],
      },
    ],
    ["a package without a transport", { packages: [{ ...npm, transport: undefined }] }],
    [
      "an argument that says neither its value nor its hint",
      { packages: [{ ...npm, packageArguments: [{ type: "positional" }] }] },
    ],
    [
      "a format that there is not",
      { packages: [{ ...npm, environmentVariables: [{ name: "X", format: "path" }] }] },
    ],
  ])("refuse %s", (_what, change) => {
    expect(() => registryEntry.parse(good)).not.toThrow();
    expect(() => registryEntry.parse({ ...good, ...change })).toThrow(z.ZodError);
  });
});

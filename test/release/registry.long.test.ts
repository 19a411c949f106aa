import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { SERVERS, serverBin, serverFolder } from "../servers.ts";
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
    const dockerfile = await readFile(join(serverFolder(name), "Dockerfile"), "utf8");
    expect(dockerfile).toContain(`LABEL io.modelcontextprotocol.server.name=${entry.name} `);
  });

  it("asks for the same variables for the image, with paths in the container", async () => {
    const [npm, image] = (await entryOf(name)).packages;
    const named = (one: typeof npm) => one?.environmentVariables?.map((variable) => variable.name);
    expect(named(image)).toEqual(named(npm));
    for (const { format, placeholder, isRequired } of image?.environmentVariables ?? [])
      if (placeholder !== undefined)
        expect({ format, isRequired }).toEqual({ format: "string", isRequired: true });
    const dockerfile = await readFile(join(serverFolder(name), "Dockerfile"), "utf8");
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

// Valid names for servers and tools, and where they are.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, serverNames } from "../lib/setup.mjs";

/** An invalid name; the message is for the person who typed it. */
export class NameError extends Error {}

export const SERVERS = join(ROOT, "servers");

/**
 * Checks the name of a new server.
 *
 * @param {string} name
 * @throws {NameError} if hosts would not accept it, or if it already exists.
 */
export function checkServerName(name) {
  if (!/^[a-z]{2,20}$/.test(name))
    throw new NameError(
      `"${name}" cannot name a server: use 2 to 20 letters a to z, as in "weather" (hosts make tool names of it).`,
    );
  if (["sample", "core", "tools", "resources", "prompts"].includes(name))
    throw new NameError(`"${name}" is reserved; choose another name.`);
  if (existsSync(join(SERVERS, name)) && !serverNames().includes(name))
    throw new NameError(
      `servers/${name} has no package.json: another branch left it behind. Delete the folder, then try again.`,
    );
  if (existsSync(join(SERVERS, name)))
    throw new NameError(
      `servers/${name} already exists. To add a tool to it: pnpm new tool ${name} NAME`,
    );
}

/**
 * Checks the name of a new tool.
 *
 * @param {string} server
 * @param {string} tool
 * @throws {NameError} if the server does not exist, or the tool's name is invalid or taken.
 */
export async function checkToolName(server, tool) {
  const servers = serverNames();
  if (!servers.includes(server))
    throw new NameError(`There is no server "${server}". There are: ${servers.join(", ")}.`);
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(tool) || tool.length < 3 || tool.length > 40)
    throw new NameError(
      `"${tool}" cannot name a tool: use 3 to 40 of a to z, 0 to 9 and _, as in "${server}_search".`,
    );
  for (const other of servers) {
    if ((await toolNames(other)).includes(tool))
      throw new NameError(
        `The ${other} server has a tool "${tool}" already; names are unique over all servers.`,
      );
  }
}

/** The names of a server's tools, read from their files. @param {string} server */
async function toolNames(server) {
  const folder = join(SERVERS, server, "src", "tools");
  if (!existsSync(folder)) return [];
  const names = [];
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith(".ts") || file.endsWith(".test.ts") || file === "index.ts") continue;
    const text = await readFile(join(folder, file), "utf8");
    names.push(...[...text.matchAll(/^ {2}name: "([a-z0-9_]+)"/gm)].map(([, name = ""]) => name));
  }
  return names;
}

/** weather_forecast → weather-forecast, the name of its file. @param {string} tool */
export function fileName(tool) {
  return tool.replaceAll("_", "-");
}

/** weather_forecast → Weather forecast, for people. @param {string} name */
export function titleOf(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

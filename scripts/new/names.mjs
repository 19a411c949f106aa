// Valid names for servers, and where they are.
import { existsSync } from "node:fs";
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
      `servers/${name} already exists. docs/add-a-tool.md says how to add a tool to it.`,
    );
}

/** weather → Weather, for people. @param {string} name */
export function titleOf(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

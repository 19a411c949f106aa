// What a server shows a model, and what that costs.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { command } from "../lib/bench-kit.mjs";
import { ROOT } from "../lib/setup.mjs";

/** @typedef {{ type: string, properties?: Record<string, { type?: string }>, required?: string[] }} Schema */
/** @typedef {{ name: string, description: string, inputSchema: Schema, effect: string, toolset?: string, needs?: string, aliases: string[] }} Tool */
/** @typedef {ReturnType<typeof import("../../packages/core/src/run/describe.ts").describeServer>} Description */
/** @typedef {Omit<Description, "tools"> & { tools: Tool[] }} Described */
/**
 * A server's package.json.
 *
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {string} license
 * @property {string} mcpName
 * @property {Record<string, string>} bin
 * @property {string[]} files
 * @property {{ node: string }} engines
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {{ exampleArguments?: string[] }} [refmcp]
 */
/** @typedef {Described & { folder: string, manifest: Manifest }} Server what `--describe` prints, with the package's manifest */
/** @typedef {{ published: boolean }} State whether npm has the packages */

/** What a built server prints about itself, with its package.json. @param {string} name @returns {Promise<Server>} */
export async function describedServer(name) {
  const folder = join(ROOT, "servers", name);
  const described = await command(process.execPath, [join(folder, "dist", "bin.js"), "--describe"]);
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  return { ...JSON.parse(described), folder, manifest };
}

/**
 * The tools offered without any option.
 *
 * @param {Pick<Described, "tools" | "toolsets">} server
 */
export function defaultTools({ tools, toolsets }) {
  return tools.filter(
    ({ needs, toolset }) =>
      needs === undefined && (toolset === undefined || toolsets[toolset]?.default === true),
  );
}

/** The tools of the toolset `slim`. @param {Described} server */
export function slimTools(server) {
  const { slim } = server;
  return slim === undefined
    ? defaultTools(server)
    : server.tools.filter(({ name, needs }) => needs === undefined && slim.includes(name));
}

/**
 * Approximate number of tokens of these tools in `tools/list`: four characters each, the rule of thumb for JSON.
 *
 * @param {Partial<Tool>[]} tools
 */
export function tokensOf(tools) {
  const listed = tools.map(({ effect, toolset, needs, aliases, ...tool }) => tool);
  return Math.ceil(JSON.stringify(listed).length / 4);
}

/**
 * Approximate number that a model reads: hosts only pass on name, description and input schema.
 *
 * @param {Tool[]} tools
 */
export function modelTokensOf(tools) {
  return tokensOf(
    tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  );
}

/** 5123 → 5.1k @param {number} tokens */
export function thousands(tokens) {
  return `${(tokens / 1000).toFixed(1)}k`;
}

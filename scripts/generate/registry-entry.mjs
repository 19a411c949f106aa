// server.json, the entry of a server in the MCP Registry (schema 2025-12-11,
// https://github.com/modelcontextprotocol/registry, docs/reference/server-json).
import { formOf } from "./bundle-manifest.mjs";
import { needsDirectory } from "./launch.mjs";
import { shortened } from "./markdown.mjs";

/** @import { Server } from "./surface.mjs" */
/** @typedef {Server["options"][number]} Option */

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/** @type {Record<string, string>} */
const FORMATS = { directory: "filepath", file: "filepath", integer: "number", flag: "boolean" };
/** Where the release workflow pushes the images. */
const IMAGES = "ghcr.io/refmcp";
/** The directory in the container that a server works in. */
const WORK = "/work";
const MAX_DESCRIPTION_CHARS = 100;

/** @param {Server} server */
export function registryEntry(server) {
  const { name, title, description, version, packageName, manifest, options } = server;
  const positional = options.find((option) => option.positional);
  // The options that a person needs: those of the form in manifest.json.
  const variables = formOf(server).filter(({ key }) => key !== positional?.key);
  return {
    $schema: SCHEMA,
    name: manifest.mcpName,
    title,
    description: shortened(description, MAX_DESCRIPTION_CHARS),
    repository: {
      url: "https://github.com/refmcp/refmcp",
      source: "github",
      subfolder: `servers/${name}`,
    },
    version,
    packages: [
      {
        registryType: "npm",
        identifier: packageName,
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        ...(positional !== undefined && { packageArguments: [argument(positional, server)] }),
        environmentVariables: variables.map(variable),
      },
      {
        registryType: "oci",
        // The tag is the version.
        identifier: `${IMAGES}/server-${name}:${version}`,
        runtimeHint: "docker",
        transport: { type: "stdio" },
        runtimeArguments: [...mounted(server, variables), volume(name)],
        environmentVariables: variables.map(inContainer),
      },
    ],
  };
}

/**
 * The user's directory as the container's /work, for a server that works in one or opens a file.
 *
 * @param {Server} server @param {Option[]} variables
 */
function mounted(server, variables) {
  const opensFile = variables.some(isUsersFile);
  if (!needsDirectory(server) && !opensFile) return [];
  const description = opensFile
    ? "The directory of the file."
    : "The directory that the server may access.";
  return [
    {
      type: "named",
      name: "--mount",
      value: `type=bind,src={directory},dst=${WORK}`,
      isRequired: true,
      variables: { directory: { description, format: "filepath", isRequired: true } },
    },
  ];
}

/** Keeps what the server stores when the container ends. @param {string} name */
const volume = (name) => ({
  type: "named",
  name: "--mount",
  value: `type=volume,src=refmcp-${name},dst=/data`,
});

/** A file is named by its path in the container. @param {Option} option */
function inContainer(option) {
  const { format, ...own } = variable(option);
  if (!isUsersFile(option)) return { ...own, format };
  return { ...own, format: "string", placeholder: `${WORK}/app.db` };
}

/** @param {Option} option */
const isUsersFile = ({ type, ask }) => type === "file" && ask;

/** @param {Option} option @param {Server} server */
function argument(option, server) {
  return {
    type: "positional",
    valueHint: option.flag,
    ...input(option),
    isRequired: needsDirectory(server),
    ...(option.repeatable && { isRepeated: true }),
  };
}

/**
 * Everything that is not an argument is set by a variable, so that a registry's form needs no shell.
 *
 * @param {Option} option
 */
function variable(option) {
  return { name: option.variables[0], ...input(option), ...(option.ask && { isRequired: true }) };
}

/** @param {Option} option */
function input({ description, type, default: value, repeatable, valueName }) {
  const choices =
    type === "enum" && !repeatable && valueName.includes("|") ? valueName.split("|") : undefined;
  return {
    description,
    format:
      (repeatable ? undefined : FORMATS[type]) ?? (type === "directory" ? "filepath" : "string"),
    ...(type === "secret" && { isSecret: true }),
    // Numbers are grouped for display, but values must not be.
    ...(value !== undefined &&
      value !== "" && { default: type === "integer" ? value.replaceAll(",", "") : value }),
    ...(choices !== undefined && { choices }),
  };
}

// manifest.json of an MCP bundle (.mcpb), which hosts such as Claude Desktop install with one click
// (https://github.com/modelcontextprotocol/mcpb, manifest version 0.4).
import { needsDirectory } from "./launch.mjs";
import { firstSentence } from "./markdown.mjs";

/** @import { Server } from "./surface.mjs" */
/** @typedef {Server["options"][number]} Option */

/** The types that a host has a form field for. @type {Record<string, string>} */
const FIELDS = { directory: "directory", file: "file", integer: "number", flag: "boolean" };

/** @param {Server} server @param {string} node the versions of Node.js that the bundle runs on */
export function bundleManifest(server, node) {
  const { name, title, version, description, manifest, tools } = server;
  const form = formOf(server);
  /** @param {string | undefined} needs */
  const isOffered = (needs) => needs === undefined || form.some(({ key }) => key === needs);
  const inArguments = form.filter(({ positional }) => positional);
  const inEnvironment = form.filter(({ positional }) => !positional);
  return {
    manifest_version: "0.4",
    name: `refmcp-${name}`,
    display_name: title,
    version,
    description,
    author: { name: "refmcp" },
    repository: { type: "git", url: "https://github.com/refmcp/refmcp" },
    documentation: `https://github.com/refmcp/refmcp/blob/main/servers/${name}/README.md`,
    license: manifest.license,
    icon: "icon.png",
    icons: [{ src: "icon.png", size: "512x512" }],
    server: {
      type: "node",
      entry_point: "dist/bin.js",
      mcp_config: {
        command: "node",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the host's own placeholders.
        args: ["${__dirname}/dist/bin.js", ...inArguments.map(placeholder)],
        env: Object.fromEntries(
          inEnvironment.map((option) => [option.variables[0] ?? "", placeholder(option)]),
        ),
      },
    },
    tools: tools
      .filter(
        ({ toolset, needs }) =>
          server.toolsets[toolset ?? ""]?.default !== false && isOffered(needs),
      )
      .map((tool) => ({ name: tool.name, description: firstSentence(tool.description) })),
    // The options decide which of them exist.
    tools_generated: true,
    prompts_generated: server.prompts.length > 0,
    compatibility: {
      platforms: ["darwin", "linux", "win32"],
      runtimes: { node },
    },
    user_config: Object.fromEntries(form.map((option) => [option.key, field(option, server)])),
  };
}

/** The options that a host's form asks for. @param {Server} server */
export function formOf({ tools, options }) {
  /** @param {string} key */
  const has = (key) => options.some((option) => option.key === key);
  // A server that changes nothing by default needs no switch to make it read-only.
  const isReadOnly = tools.every(({ effect }) => effect === "read") || has("allowWrite");
  return options.filter(
    ({ key, form }) => form !== undefined && !(key === "readOnly" && isReadOnly),
  );
}

/** @param {Option} option */
function placeholder({ key }) {
  return `\${user_config.${key}}`;
}

/** An option as a field of a host's form. @param {Option} option @param {Server} server */
export function field(option, server) {
  const { form, type, positional } = option;
  // Several values only fit into arguments; a variable separates them with commas.
  const repeatable = option.repeatable && positional;
  // A server that asks for a database uses directories for its imports and exports only.
  const required = option.positional ? needsDirectory(server) : option.ask;
  return {
    type: FIELDS[type] ?? "string",
    title: form?.title ?? option.key,
    description: form?.help ?? option.description,
    required,
    ...(repeatable && { multiple: true }),
    ...(type === "secret" && { sensitive: true }),
    // A placeholder without a value would reach the server unresolved.
    ...(!required && {
      default: repeatable ? [] : type === "flag" ? false : (option.default ?? ""),
    }),
  };
}

// manifest.json of an MCP bundle (.mcpb), which hosts such as Claude Desktop install with one click
// (https://github.com/modelcontextprotocol/mcpb, manifest version 0.3).
import { needsDirectory } from "./launch.mjs";
import { firstSentence, kebab } from "./markdown.mjs";

/** The types that a host has a form field for. */
const FIELDS = { directory: "directory", file: "file", integer: "number", flag: "boolean" };

/** @param server what `--describe` prints, with the package's manifest */
export function bundleManifest(server) {
  const { name, title, version, description, manifest, tools, options } = server;
  const asked = options.filter(({ ask }) => ask);
  const readOnly = options.filter(({ key }) => key === "readOnly");
  const inArguments = asked.filter(({ positional }) => positional);
  const inEnvironment = [...asked.filter(({ positional }) => !positional), ...readOnly];
  return {
    manifest_version: "0.3",
    name: `refmcp-${name}`,
    display_name: title,
    version,
    description,
    author: { name: "refmcp" },
    repository: { type: "git", url: "https://github.com/refmcp/refmcp" },
    documentation: `https://github.com/refmcp/refmcp/blob/main/servers/${name}/README.md`,
    license: manifest.license,
    server: {
      type: "node",
      entry_point: "dist/bin.js",
      mcp_config: {
        command: "node",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the host's own placeholders.
        args: ["${__dirname}/dist/bin.js", ...inArguments.map(placeholder)],
        env: Object.fromEntries(inEnvironment.map((option) => [option.variables[0], placeholder(option)])),
      },
    },
    tools: tools.map((tool) => ({ name: tool.name, description: firstSentence(tool.description) })),
    // Options decide which of them there are.
    tools_generated: true,
    prompts_generated: server.prompts.length > 0,
    compatibility: {
      platforms: ["darwin", "linux", "win32"],
      runtimes: { node: manifest.engines.node },
    },
    user_config: Object.fromEntries(
      [...asked, ...readOnly].map((option) => [fieldName(option), field(option, server)]),
    ),
  };
}

const fieldName = ({ key }) => key;

function placeholder(option) {
  return `\${user_config.${fieldName(option)}}`;
}

function field(option, server) {
  const { key, type, description, repeatable, positional } = option;
  const required = positional ? needsDirectory(server) : option.ask;
  return {
    type: FIELDS[type] ?? "string",
    title: titleOf(key),
    description,
    required,
    ...(repeatable && { multiple: true }),
    ...(type === "secret" && { sensitive: true }),
    // A placeholder without a value would reach the server as it is.
    ...(!required && { default: repeatable ? [] : type === "flag" ? false : (option.default ?? "") }),
  };
}

/** readOnly → Read only */
function titleOf(key) {
  const words = kebab(key).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// plugins/ and the marketplaces: one plugin for each server and one for all, in the formats of Claude Code, Codex, Cursor,
// Copilot CLI with VS Code, and Gemini CLI. A plugin contains the entry that starts its server, and its skills.
//
// There is no manifest of the Agent Plugins standard (plugin.json in the plugin's root): its servers start in the plugin's
// folder, and Codex, which would prefer it to its own manifest, would no longer start them in the project.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { field, formOf } from "./bundle-manifest.mjs";
import { icon } from "./icon.mjs";
import { exampleOf, needsDirectory } from "./launch.mjs";
import { pluginPage } from "./plugins-page.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @typedef {Server["options"][number]} Option */
/** @typedef {Map<string, string | Uint8Array>} Files path → content */
/**
 * A program that a plugin starts.
 *
 * @typedef {object} Start
 * @property {string} key the server's name in the host
 * @property {string} packageName
 * @property {string} bin in a clone, from its root
 * @property {boolean} takesProject whether its argument is the project's directory
 */
/**
 * @typedef {object} Plugin
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {string} version
 * @property {string} homepage
 * @property {string} icon as SVG
 * @property {readonly Server[]} servers whose skills and options it has
 * @property {Start} start
 */

const REPOSITORY = "https://github.com/refmcp/refmcp";
const OWNER = { name: "refmcp" };
const ALL = "refmcp";
/** From a plugin's folder to the root of the clone. */
const TO_ROOT = "../..";

/** @param {string} name */
const variable = (name) => `$\{${name}}`;

/**
 * All plugins: one for each server, and one for all, unless this is a clone of a few servers without it.
 *
 * @param {readonly Server[]} servers
 * @returns {Plugin[]}
 */
export function plugins(servers) {
  const [first] = servers;
  if (first === undefined || !existsSync(join(ROOT, "packages", ALL, "package.json")))
    return servers.map(pluginOf);
  const all = {
    name: ALL,
    title: ALL,
    description:
      "All servers of refmcp as one: files, git, databases, the web, a browser and a memory.",
    version: first.version,
    homepage: `${REPOSITORY}#readme`,
    icon: exampleOf([...servers]).icon,
    servers,
    start: { key: ALL, packageName: ALL, bin: `packages/${ALL}/dist/bin.js`, takesProject: true },
  };
  return [all, ...servers.map(pluginOf)];
}

/** @param {Server} server @returns {Plugin} */
function pluginOf(server) {
  const { name, title, description, version, packageName } = server;
  return {
    name: `refmcp-${name}`,
    title,
    description,
    version,
    homepage: `${REPOSITORY}/blob/main/servers/${name}/README.md`,
    icon: server.icon,
    servers: [server],
    start: {
      key: name,
      packageName,
      bin: `servers/${name}/dist/bin.js`,
      takesProject: needsDirectory(server),
    },
  };
}

/**
 * Everything in plugins/.
 *
 * @param {readonly Server[]} servers
 * @param {State} state
 * @returns {Promise<Files>} path in plugins/ → content
 */
export async function pluginFiles(servers, state) {
  /** @type {Files} */
  const files = new Map();
  for (const plugin of plugins(servers)) {
    /** @param {string} path @param {string | Uint8Array} content */
    const put = (path, content) => files.set(`${plugin.name}/${path}`, content);
    put(".claude-plugin/plugin.json", json(claudeManifest(plugin, state)));
    put(".codex-plugin/plugin.json", json(codexManifest(plugin, state)));
    put(".cursor-plugin/plugin.json", json(cursorManifest(plugin, state)));
    put(".github/plugin/plugin.json", json(copilotManifest(plugin, state)));
    put("gemini-extension.json", json(geminiManifest(plugin, state)));
    put("assets/icon.png", icon(plugin.icon));
    put("README.md", pluginPage(plugin, state));
    for (const { folder } of plugin.servers)
      for (const [path, content] of await skillFiles(folder)) put(`skills/${path}`, content);
  }
  return files;
}

/**
 * The lists of plugins that hosts read in the root of the repository.
 *
 * @param {readonly Server[]} servers
 * @returns {Record<string, object>} path from the root → content
 */
export function marketplaces(servers) {
  const description = "The reference collection of MCP servers, with skills for whole tasks.";
  const listed = plugins(servers).map((plugin) => ({
    ...plugin,
    source: `./plugins/${plugin.name}`,
  }));
  const list = {
    name: ALL,
    owner: OWNER,
    metadata: { description },
    plugins: listed.map(({ name, source, description, homepage }) => {
      return { name, source, description, homepage, license: "MIT", category: "development" };
    }),
  };
  const cursorList = {
    ...list,
    plugins: listed.map(({ name, source, description }) => ({ name, source, description })),
  };
  return {
    ".claude-plugin/marketplace.json": list,
    ".github/plugin/marketplace.json": list,
    ".cursor-plugin/marketplace.json": cursorList,
  };
}

/** What all manifests have in common. @param {Plugin} plugin */
function described({ name, description, version, homepage }) {
  const keywords = ["mcp", "model-context-protocol"];
  return {
    name,
    description,
    version,
    author: OWNER,
    homepage,
    repository: REPOSITORY,
    license: "MIT",
    keywords,
  };
}

/** @param {Plugin} plugin @param {State} state */
function claudeManifest(plugin, state) {
  const root = variable("CLAUDE_PLUGIN_ROOT");
  const fields = asked(plugin, plugin.servers.length === 1 ? "form" : "ask");
  return {
    ...described(plugin),
    displayName: plugin.title,
    icon: "./assets/icon.png",
    ...(fields.length > 0 && {
      userConfig: Object.fromEntries(
        fields.map(({ key, option, server }) => [key, userField(option, server, plugin)]),
      ),
    }),
    mcpServers: entries(plugin, state, {
      root,
      project: variable("CLAUDE_PROJECT_DIR"),
      env: Object.fromEntries(
        fields.map(({ key, name }) => [name, variable(`user_config.${key}`)]),
      ),
    }),
  };
}

/** Codex copies plugins and does not say where the copy is, so that it cannot start a clone. @param {Plugin} plugin @param {State} state */
function codexManifest(plugin, state) {
  const { title, description, servers } = plugin;
  const names = asked(plugin, "ask").map(({ name }) => name);
  return {
    ...described(plugin),
    skills: "./skills/",
    ...(state.published && {
      mcpServers: entries(plugin, state, { more: names.length > 0 ? { env_vars: names } : {} }),
    }),
    interface: {
      displayName: title,
      shortDescription: description,
      developerName: OWNER.name,
      category: "Developer Tools",
      capabilities: servers.every(({ tools }) => tools.every(({ effect }) => effect === "read"))
        ? ["Read"]
        : ["Read", "Write"],
      websiteURL: plugin.homepage,
      composerIcon: "./assets/icon.png",
      logo: "./assets/icon.png",
    },
  };
}

/** Cursor documents no variable for a plugin's folder. @param {Plugin} plugin @param {State} state */
function cursorManifest(plugin, state) {
  const env = Object.fromEntries(
    asked(plugin, "ask").map(({ name }) => [name, variable(`env:${name}`)]),
  );
  return {
    ...described(plugin),
    displayName: plugin.title,
    logo: "assets/icon.png",
    category: "developer-tools",
    ...(state.published && {
      mcpServers: entries(plugin, state, { project: variable("workspaceFolder"), env }),
    }),
  };
}

/** For Copilot CLI and VS Code. Neither fills in the project: VS Code reports it as a root. @param {Plugin} plugin @param {State} state */
function copilotManifest(plugin, state) {
  return {
    ...described(plugin),
    skills: "./skills/",
    mcpServers: entries(plugin, state, { root: variable("PLUGIN_ROOT") }),
  };
}

/** Gemini CLI asks for every setting, so the plugin with all servers takes them from the environment. @param {Plugin} plugin @param {State} state */
function geminiManifest(plugin, state) {
  const { name, version, description, servers } = plugin;
  const needed = asked(plugin, "ask");
  const settings = needed.map(({ name: envVar, option }) => {
    const { form, description, type } = option;
    return {
      name: form?.title ?? envVar,
      description: form?.help ?? description,
      envVar,
      ...(type === "secret" && { sensitive: true }),
    };
  });
  const env = Object.fromEntries(needed.map(({ name }) => [name, variable(name)]));
  return {
    name,
    version,
    description,
    ...(servers.length === 1 && settings.length > 0 && { settings }),
    mcpServers: entries(plugin, state, {
      root: variable("extensionPath"),
      project: variable("workspacePath"),
      ...(servers.length > 1 && { env }),
    }),
  };
}

/**
 * The entry that starts a plugin's server.
 *
 * @param {Plugin} plugin
 * @param {State} state
 * @param {{ root?: string, project?: string, env?: Record<string, string>, more?: object }} host its variables for the
 *   plugin's folder and for the project, the environment, and further fields
 */
function entries({ start }, { published }, { root, project, env = {}, more }) {
  const { key, packageName, bin, takesProject } = start;
  const args = published ? ["-y", packageName] : [`${root}/${TO_ROOT}/${bin}`];
  if (takesProject && project !== undefined) args.push(project);
  return {
    [key]: {
      command: published ? "npx" : "node",
      args,
      ...(Object.keys(env).length > 0 && { env }),
      ...more,
    },
  };
}

/**
 * What a plugin asks its user for. Directories are the project's.
 *
 * @param {Plugin} plugin
 * @param {"form" | "ask"} what everything that a form asks for, or only what the server cannot do without
 */
function asked({ servers }, what) {
  return servers.flatMap((server) =>
    formOf(server)
      .filter(({ positional, ask }) => !positional && (what === "form" || ask))
      .map((option) => {
        const { key, variables } = option;
        const [name = ""] = variables;
        const own = servers.length === 1 ? key : `${server.name}_${key}`;
        return { key: own, name, option, server };
      }),
  );
}

/** In the plugin for all servers, nothing is required: it works without a database. @param {Option} option @param {Server} server @param {Plugin} plugin */
function userField(option, server, { servers }) {
  const own = field(option, server);
  return servers.length === 1 ? own : { ...own, required: false, default: "" };
}

/** @param {string} server its folder @returns {Promise<Files>} path in skills/ → content */
async function skillFiles(server) {
  /** @type {Files} */
  const files = new Map();
  const folder = join(server, "skills");
  if (!existsSync(folder)) return files;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(file.slice(folder.length + 1).replaceAll("\\", "/"), await readFile(file));
  }
  return files;
}

/** @param {object} value */
const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

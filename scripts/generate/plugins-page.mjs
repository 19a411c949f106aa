// docs/plugins.md and the README of each plugin: how a host installs it.
import { code, fenced, listed, table } from "./markdown.mjs";

/** @import { State } from "./surface.mjs" */
/** @typedef {import("./plugins.mjs").Plugin} Plugin */

const ON_GITHUB = "refmcp/refmcp";
const CLONE = "/path/to/refmcp";
const COPILOT_ISSUE = "https://github.com/github/copilot-cli/issues/4234";

const WINDOWS =
  "On Windows, hosts that start programs without a shell do not find `npx`: use [the host's entry](hosts.md) instead.";

/** What a host that installs marketplaces is told: a repository, or a clone. @param {State} state */
const sourceOf = ({ published }) => (published ? ON_GITHUB : CLONE);

/**
 * The commands that install a plugin, by host.
 *
 * @param {string} plugin
 * @param {State} state
 * @returns {[host: string, commands: string][]}
 */
function commands(plugin, state) {
  const source = sourceOf(state);
  const gemini =
    state.published && plugin === "refmcp"
      ? `gemini extensions install https://github.com/${ON_GITHUB}`
      : `gemini extensions link ${CLONE}/plugins/${plugin}`;
  return [
    [
      "Claude Code",
      `claude plugin marketplace add ${source}\nclaude plugin install ${plugin}@refmcp`,
    ],
    ["Codex", `codex plugin marketplace add ${source}\ncodex plugin add ${plugin}@refmcp`],
    [
      "Copilot CLI",
      `copilot plugin marketplace add ${source}\ncopilot plugin install ${plugin}@refmcp`,
    ],
    ["Gemini CLI", gemini],
  ];
}

/** A plugin's README. @param {Plugin} plugin @param {State} state */
export function pluginPage({ name, title, description, servers }, state) {
  const skills = servers.flatMap((server) => server.skills);
  const [[, claude = ""] = []] = commands(name, state);
  return `# ${name}

${description} This plugin starts ${
    servers.length === 1
      ? `[the ${title} server](../../servers/${servers[0]?.name}/README.md)`
      : "[all servers](../../README.md)"
  } and adds ${
    skills.length === 1
      ? "a skill, instructions for a whole task."
      : `${skills.length} skills, instructions for whole tasks.`
  } Everything in this folder is written by ${code("pnpm generate")}.

## Install

In Claude Code:

${fenced("sh", claude)}

[Plugins](../../docs/plugins.md) has the commands for other hosts, and what each of them asks for.

## Skills

${table(
  ["Skill", "What it is for"],
  skills.map(({ name, description }) => [code(name), description]),
)}
`;
}

/**
 * docs/plugins.md.
 *
 * @param {readonly Plugin[]} plugins
 * @param {State} state
 */
export function pluginsPage(plugins, state) {
  const [all] = plugins;
  const name = all?.name ?? "";
  const rows = plugins.map((plugin) => [
    code(plugin.name),
    plugin.description,
    String(plugin.servers.reduce((sum, { skills }) => sum + skills.length, 0)),
  ]);
  const sections = commands(name, state).map(
    ([host, text]) => `### ${host}\n\n${fenced("sh", text)}`,
  );
  return `# Plugins

A plugin installs a server and its skills in one step. ${code(name)} has all of them; the others have one server each.

${table(["Plugin", "What it does", "Skills"], rows)}

${state.published ? "" : `${unpublishedPart()}\n\n`}## Install

The commands install ${code(name)}; for another plugin, replace its name.

${sections.join("\n\n")}

### VS Code

Run the command ${code("Chat: Install Plugin From Source")} and enter ${code(state.published ? ON_GITHUB : `file://${CLONE}`)}. Plugins are a preview: the setting
${code("chat.plugins.enabled")} turns them on.

### Cursor

In a team, an admin imports ${code(ON_GITHUB)} as a marketplace under Dashboard > Settings > Plugins. On one machine, copy the
plugin's folder to ${code("~/.cursor/plugins/local")}.

## What each host does with a plugin

${table(["Host", "Directory of the servers", "Database and other settings"], hosts(plugins))}

${missingProjectPart()}

Hosts start ${code(state.published ? "npx" : "node")} from your PATH.${state.published ? ` ${WINDOWS}` : ""}
`;
}

/** Which host gets what from its own variables. @param {readonly Plugin[]} plugins */
function hosts(plugins) {
  const asked = plugins
    .flatMap(({ servers }) => (servers.length === 1 ? servers : []))
    .flatMap(({ options }) => options.filter(({ ask, positional }) => ask && !positional))
    .map(({ variables: [variable = ""] }) => code(variable));
  const variables = `from the variables ${listed(asked)}`;
  return [
    [
      "Claude Code",
      "the project",
      "asked for by `/plugin configure`, or given with `--config KEY=VALUE`",
    ],
    [
      "Gemini CLI",
      "the project",
      `asked for during the installation; ${code("refmcp")}: ${variables}`,
    ],
    ["Cursor", "the project", variables],
    ["Codex", "the project", variables],
    ["VS Code", "the open folders (its roots)", variables],
    ["Copilot CLI", "not told", variables],
  ];
}

/** Claude Code and Copilot CLI use a local plugin where it is, Gemini CLI after `link`; the others copy it. */
function unpublishedPart() {
  return `The packages are not on npm yet, so the plugins start the servers of your clone: [Start](../README.md#start) shows how to get
and build them. Claude Code (2.1.332) and Copilot CLI (1.0.102) use a plugin where it is, and Gemini CLI does so after
${code("link")}. Codex and Cursor copy plugins and cannot start a clone: until the packages are published, their plugins
contain only the skills. [Hosts](hosts.md) has the entries for their servers.`;
}

/** What to do where the host reports no project. */
function missingProjectPart() {
  return `Copilot CLI starts a plugin's servers in the plugin's folder and does not name the project
([its issue](${COPILOT_ISSUE})): there, set ${code("REFMCP_FILESYSTEM_ROOT")} and ${code("REFMCP_GIT_ROOT")}, or use [its entry](hosts.md).`;
}

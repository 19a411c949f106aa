// The generated parts of the READMEs: how to install a server, and what it offers.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { importSource } from "../lib/sources.mjs";
import {
  allServers,
  exampleOf,
  hostEntries,
  installLinks,
  launchOf,
  printCommand,
} from "./launch.mjs";
import { aligned, code, fenced, firstSentence, kebab, table } from "./markdown.mjs";
import { defaultTools, modelTokensOf, slimTools, thousands } from "./surface.mjs";

/** @import { Server, State, Tool } from "./surface.mjs" */

const NOT_YET = "> **Not published to npm yet.** Until then, run";
const NEEDS = "You need Node.js 20.19 or newer";
const CLONE = "git clone https://github.com/refmcp/refmcp.git\ncd refmcp";

/**
 * The parts of one server's README, by name.
 *
 * @param {Server} server
 * @param {State} state
 */
export async function readmeParts(server, state) {
  return {
    install: state.published ? await installPart(server) : await clonePart(server),
    options: optionsPart(server),
    tools: toolsPart(server),
    ...(await languageParts(server)),
  };
}

/** The language of the sentences that a server reads, from its reference. @param {Server} server */
async function languageParts({ folder, name }) {
  const file = "src/browser/language/help.ts";
  if (!existsSync(join(folder, file))) return {};
  /** @type {{ TABLES: Record<string, string[][]> }} */
  const { TABLES } = await importSource(`servers/${name}/${file}`);
  /** @param {string} text */
  const quoted = (text) => (text.includes("`") ? `\`\` ${text} \`\`` : code(text));
  const tables = Object.entries(TABLES).map(([title, rows]) =>
    table(
      [`${title.charAt(0).toUpperCase()}${title.slice(1)}`],
      rows.map((examples) => [examples.map(quoted).join(" · ")]),
    ),
  );
  return { language: tables.join("\n\n") };
}

/** The parts of the root README, by name. @param {Server[]} servers @param {State} state */
export async function rootParts(servers, state) {
  return {
    start: startPart(exampleOf(servers), state),
    hosts: await hostsPart(state),
    servers: await serversPart(servers, state),
  };
}

/** The one command. @param {Server} example @param {State} state */
function startPart(example, state) {
  const setup = `${state.published ? "npx -y refmcp" : "node packages/refmcp/dist/bin.js"} setup ~/my-project`;
  const result =
    "It finds the assistants on this computer, shows the entry for each one's configuration, asks, writes it, and starts it. An assistant that reports the open project works there; the others may use the folder that you name. `--undo` removes the entries.";
  if (state.published) return [`${NEEDS}.`, fenced("sh", setup), result].join("\n\n");
  return [
    `${NOT_YET} the servers from a clone. ${NEEDS}, npm and git.`,
    fenced("sh", `${CLONE}\nnpm start\n${setup}`),
    `\`npm start\` installs and builds everything, and plays a short demo of every server. ${"`setup`"} connects your assistants: ${result.replace("It finds", "it finds")}`,
    `To paste an entry by hand instead, have a server print it: ${code(printCommand({ ...example, name: "git" }, "vscode", state))}`,
  ].join("\n\n");
}

/** The hosts that most people use, in the README; docs/hosts.md has all. */
const README_HOSTS = ["claude-code", "claude-desktop", "vscode", "cursor"];

/** A folded block for each host that most people use, with the entry that has all servers. @param {State} state */
async function hostsPart(state) {
  const { placesOn } = await importSource("packages/refmcp/src/hosts/entry.ts");
  const entries = await hostEntries(allServers(state));
  const blocks = README_HOSTS.flatMap((id) => {
    const hostEntry = entries.find((entry) => entry.id === id);
    if (hostEntry === undefined) throw new Error(`There is no host ${id}.`);
    const { host, format, text, command } = hostEntry;
    const systems = { Linux: "linux", macOS: "darwin", Windows: "win32" };
    const places = Object.entries(systems).map(([name, system]) => [
      placesOn(host, system)[0],
      name,
    ]);
    const file = places[0]?.[0] ?? "";
    const written =
      new Set(places.slice(0, 2).map(([place]) => place)).size === 1
        ? code(file)
        : places.map(([place, name]) => `${code(place)} (${name})`).join(", ");
    return [
      `<details><summary><b>${host.title}</b></summary>`,
      ...(command === undefined ? [] : [fenced("sh", command), "Or in the file:"]),
      written,
      fenced(format, text),
      "</details>",
    ];
  });
  return [
    ...blocks,
    `[docs/hosts.md](docs/hosts.md) has all ${entries.length} hosts, with the places of their files on macOS, Linux and Windows, and [the plugin](docs/hosts.md#plugin), which brings the skills too.`,
  ].join("\n\n");
}

/** The table of all servers, and what they cost together. @param {Server[]} servers @param {State} state */
async function serversPart(servers, state) {
  const offered = servers.map((server) => ({
    server,
    tools: defaultTools(server),
    slim: slimTools(server),
  }));
  /** @param {{ tools: Tool[], slim: Tool[] }} offered */
  const costs = ({ tools, slim }) => [
    String(tools.length),
    thousands(modelTokensOf(tools)),
    thousands(modelTokensOf(slim)),
  ];
  const rows = [];
  for (const { server, ...offer } of offered) {
    rows.push([
      `[${server.name}](servers/${server.name}/README.md)`,
      server.description,
      ...costs(offer),
    ]);
  }
  const sum = {
    tools: offered.flatMap(({ tools }) => tools),
    slim: offered.flatMap(({ slim }) => slim),
  };
  rows.push(["all", "", ...costs(sum)]);
  const header = ["Server", "What it is for", "Tools", "Tokens", "With `--toolsets slim`"];
  return [
    aligned(header, rows),
    ...(state.published ? [await installList(servers, state)] : []),
  ].join("\n\n");
}

/**
 * The links that install each server. The links themselves are very long, so they come last, and the list stays readable as
 * source.
 *
 * @param {Server[]} servers
 * @param {State} state
 */
async function installList(servers, state) {
  /** @type {string[]} */
  const items = [];
  /** @type {string[]} */
  const targets = [];
  for (const server of servers) {
    const links = Object.entries(await installLinks(server, state)).map(([host, link]) => {
      targets.push(`[${server.name}-${host}]: ${link}`);
      return `[${LINKED[host] ?? host}][${server.name}-${host}]`;
    });
    if (links.length > 0) items.push(`- ${server.name}: ${links.join(" · ")}`);
  }
  return ["Install with one click:", items.join("\n"), targets.join("\n")].join("\n\n");
}

/** The hosts that install a server from a link. @type {Record<string, string>} */
const LINKED = { vscode: "VS Code", cursor: "Cursor" };

/** @type {(links: Record<string, string>, between: string) => string} */
function linksText(links, between) {
  return Object.entries(links)
    .map(([host, link]) => `[Install in ${LINKED[host] ?? host}](${link})`)
    .join(between);
}

/** How to start an unpublished server. @param {Server} server */
async function clonePart(server) {
  const state = { published: false };
  const [{ id, host, format, text }] = await hostEntries(launchOf(server, state));
  return [
    "[Start](../../README.md#start) shows how to get and build the servers. Then paste this entry, with the paths of your machine, into your host's configuration:",
    fenced(format, text),
    `This prints it with the paths of your machine, and where it goes in ${host.title}:`,
    fenced("sh", printCommand(server, id, state)),
    "[Hosts](../../docs/hosts.md) has the names to use for other hosts, and where each of them keeps its configuration.",
  ].join("\n\n");
}

/** @param {Server} server */
async function installPart(server) {
  const state = { published: true };
  const [first, ...others] = await hostEntries(launchOf(server, state));
  const commands = others.flatMap(({ command }) => command ?? []);
  return [
    linksText(await installLinks(server, state), " · "),
    `Or paste this into your host's configuration. ${NEEDS}.`,
    fenced(first.format, first.text),
    "Or from a shell:",
    fenced("sh", commands.join("\n")),
    `${code(printCommand(server, "HOST", state))} prints the entry for your host. [Hosts](../../docs/hosts.md) has their names, and where the entry goes.`,
  ].join("\n\n");
}

/** The server's own options. @param {Server} server */
function optionsPart({ options }) {
  const own = options.filter(
    ({ key, heading = "" }) => key === "toolsets" || !["Common", "HTTP"].includes(heading),
  );
  return `${optionTable(own)}\n\n${code("--help")} also lists the options of every server: read-only mode, confirmation, the choice of tools, limits, HTTP.`;
}

/** @param {Server} server */
function toolsPart({ tools }) {
  const rows = tools.map((tool) => {
    const notes = [
      tool.toolset === undefined ? "" : `set ${tool.toolset}`,
      tool.needs === undefined ? "" : `with \`--${kebab(tool.needs)}\``,
      tool.aliases.length === 0 ? "" : `also as ${tool.aliases.map(code).join(", ")}`,
    ].filter(Boolean);
    return [
      code(tool.name),
      tool.effect,
      firstSentence(tool.description) + (notes.length > 0 ? ` (${notes.join("; ")})` : ""),
    ];
  });
  return table(["Tool", "Effect", "What it does"], rows);
}

/** @param {import("./surface.mjs").Described["options"]} options */
function optionTable(options) {
  const rows = options.map(({ label, description, takes, default: preset = "", variables }) => [
    code(label),
    takes.length === 0 ? description : `${description} (${takes.join("; ")})`,
    preset === "" ? "" : code(preset),
    variables.map(code).join(", "),
  ]);
  return table(["Option", "What it does", "Default", "Environment"], rows);
}

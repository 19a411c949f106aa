// The generated parts of docs/hosts.md: each host's file and format, with a server that takes a directory.
import { hostEntries, installLinks, printCommand } from "./launch.mjs";
import { code, fenced, listed, table } from "./markdown.mjs";

const FROM_A_CLONE =
  "> **Not published to npm yet.** Until then, run the servers from a clone: `git clone https://github.com/refmcp/refmcp.git`, then `npm start` in it.";

/**
 * The parts of docs/hosts.md, by name.
 *
 * @param {{ published: boolean }} state whether npm has the packages
 */
export async function hostParts(servers, state) {
  const example = servers.find(({ name }) => name === "filesystem") ?? servers[0];
  const entries = await hostEntries(example, state);
  const links = await installLinks(example, state);
  return {
    start: [
      ...(state.published ? [] : [FROM_A_CLONE]),
      "How to have a host (the program that runs the assistant) start a server. The quickest way is to have the server print its entry, with the options you want:",
      fenced("sh", printCommand(example, "vscode", state, ["--read-only"])),
      `It prints exactly what to paste, and on stderr where it goes. The hosts are ${listed(entries.map(({ host }) => code(host)))}.`,
    ].join("\n\n"),
    places: table(
      ["Host", "For a project", "For all projects", "Format"],
      entries.map((entry) => [
        `[${entry.title}](${entry.documentation})`,
        places(entry, "project"),
        places(entry, "user"),
        entry.format.toUpperCase(),
      ]),
    ),
    entries: entries.map((entry) => section(entry, links[entry.host])).join("\n\n"),
  };
}

function places({ locations }, scope) {
  return locations
    .filter((location) => location.scope === scope)
    .map(({ platform, path }) => (platform === "any" ? code(path) : `${platform}: ${code(path)}`))
    .join("<br>");
}

function section({ title, format, text, shellCommand, windowsText, notes }, link) {
  return [
    `### ${title}`,
    fenced(format, text),
    ...(shellCommand === undefined ? [] : [`Or run ${code(shellCommand)}.`]),
    ...(link === undefined ? [] : [`Or open [this link](${link}).`]),
    ...(windowsText === undefined
      ? []
      : ["<details><summary>On Windows</summary>", fenced(format, windowsText), "</details>"]),
    ...notes,
  ].join("\n\n");
}

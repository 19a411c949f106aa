// The generated parts of docs/hosts.md: each host's file and format, with a server that takes a directory.
import { hostEntries } from "./launch.mjs";
import { code, fenced, table } from "./markdown.mjs";

/** The parts of docs/hosts.md, by name. */
export async function hostParts(servers) {
  const example = servers.find(({ name }) => name === "filesystem") ?? servers[0];
  const entries = await hostEntries(example);
  return {
    places: table(
      ["Host", "For a project", "For all projects", "Format"],
      entries.map((entry) => [
        `[${entry.title}](${entry.documentation})`,
        places(entry, "project"),
        places(entry, "user"),
        entry.format.toUpperCase(),
      ]),
    ),
    entries: entries.map(section).join("\n\n"),
  };
}

function places({ locations }, scope) {
  return locations
    .filter((location) => location.scope === scope)
    .map(({ platform, path }) => (platform === "any" ? code(path) : `${platform}: ${code(path)}`))
    .join("<br>");
}

function section({ title, format, text, shellCommand, link, windowsText, notes }) {
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

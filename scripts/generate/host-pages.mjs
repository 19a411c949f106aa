// The generated parts of docs/hosts.md: how to print an entry, and where each host keeps its own.
import { importSource } from "../lib/sources.mjs";
import { exampleOf, hostEntries, launchOf, printCommand } from "./launch.mjs";
import { code, fenced, listed, table } from "./markdown.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @import { Host } from "./launch.mjs" */

const FROM_A_CLONE = "[Start](../README.md#start) shows how to get and build the servers.";

/**
 * The parts of docs/hosts.md, by name.
 *
 * @param {Server[]} servers
 * @param {State} state
 */
export async function hostParts(servers, state) {
  const example = exampleOf(servers);
  const entries = await hostEntries(launchOf(example, state));
  const { placesOn } = await importSource("packages/refmcp/src/hosts/entry.ts");
  return {
    start: [
      ...(state.published ? [] : [FROM_A_CLONE]),
      "A host, the program that runs the assistant, starts a server by an entry. `refmcp setup` writes it; to paste it yourself, have it printed:",
      fenced("sh", printCommand(example, "vscode", state, ["--read-only"])),
      `The entry is printed to stdout, and where it goes to stderr. The hosts are ${listed(entries.map(({ id }) => code(id)))}, and ${code("json")} for any other.`,
    ].join("\n\n"),
    places: table(
      ["Host", "For all projects", "For a project", "Open project", "Searches tools"],
      entries.map(({ host }) => [
        `[${host.title}](${host.source[0]})`,
        placesOf(host, placesOn),
        host.project === undefined ? "" : code(host.project),
        host.does?.includes("roots") ? "yes" : "",
        host.does?.includes("search") ? "yes" : "",
      ]),
    ),
  };
}

/** @param {Host} host @param {(host: Host, platform: NodeJS.Platform) => string[]} placesOn */
function placesOf(host, placesOn) {
  const systems = { Linux: "linux", macOS: "darwin", Windows: "win32" };
  const written = Object.entries(systems).map(([name, platform]) => {
    const places = placesOn(host, /** @type {NodeJS.Platform} */ (platform));
    return { name, text: places.map(code).join(" or ") };
  });
  const texts = [...new Set(written.map(({ text }) => text))];
  return texts
    .map((same) => {
      const names = written.filter(({ text }) => text === same).map(({ name }) => name);
      return texts.length === 1 ? same : `${names.join(", ")}: ${same}`;
    })
    .join("<br>");
}

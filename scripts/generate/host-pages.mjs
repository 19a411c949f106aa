// The generated parts of docs/hosts.md: each host's file and format, with a server that takes a directory.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { importSource } from "../lib/sources.mjs";
import {
  exampleOf,
  hostEntries,
  installLinks,
  launchOf,
  printCommand,
  withSameText,
} from "./launch.mjs";
import { code, fenced, listed, table } from "./markdown.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @import { Host, ShownEntry } from "./launch.mjs" */
/** @typedef {{ protocolVersion: string, capabilities: Record<string, Record<string, unknown>> }} Opening */
/** @typedef {{ host: string, version: string, note?: string, opening: string[] }} Recording */

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
  const links = await installLinks(example, state);
  const { placesOn, restartOf } = await importSource("packages/refmcp/src/hosts/entry.ts");
  return {
    start: [
      ...(state.published ? [] : [FROM_A_CLONE]),
      "A host, the program that runs the assistant, starts a server by an entry. Let `refmcp` print it, with the server and the options you want:",
      fenced("sh", printCommand(example, "vscode", state, ["--read-only"])),
      `It prints exactly what to paste, and on stderr where it goes. The hosts are ${listed(entries.map(({ id }) => code(id)))}. ${code("json")} is the common form for any other host, which a server alone also prints, with ${code("--print-config")}.`,
    ].join("\n\n"),
    places: table(
      ["Host", "For all projects", "For a project", "Open project", "Searches tools", "Checked"],
      entries.map(({ host }) => [
        `[${host.title}](${host.source[0]})`,
        placesOf(host, placesOn),
        host.project === undefined ? "" : code(host.project),
        host.does?.includes("roots") ? "yes" : "",
        host.does?.includes("search") ? "yes" : "",
        host.source[1],
      ]),
    ),
    abilities: abilities(entries),
    entries: withSameText(entries)
      .map((group) => section(group, links, restartOf))
      .join("\n\n"),
  };
}

/** What each host declared to a server, in the latest recording of its first messages. @param {ShownEntry[]} entries */
function abilities(entries) {
  /** @type {Recording[]} */
  const recorded = JSON.parse(readFileSync(join(ROOT, "test", "hosts", "openings.json"), "utf8"));
  const rows = entries.flatMap(({ id, host: { title } }) => {
    const recordings = recorded.filter((recording) => recording.host === id);
    const latest = recordings.at(-1);
    if (latest === undefined) return [];
    /** @type {{ method: string, params: Opening }[][]} */
    const lines = recordings.map(({ opening }) => opening.map((line) => JSON.parse(line)));
    const initialize = lines.flatMap(
      (messages) => messages.find(({ method }) => method === "initialize") ?? [],
    );
    const version = initialize.at(-1)?.params.protocolVersion ?? "";
    // If a host starts several processes, it has the abilities of any of them.
    const said = initialize
      .map(({ params }) => params)
      .filter((one) => one.protocolVersion === version);
    /** @param {(capabilities: Opening["capabilities"]) => boolean} test */
    const has = (test) => (said.some(({ capabilities }) => test(capabilities)) ? "yes" : "");
    return [
      [
        title,
        latest.version,
        (lines.at(-1)?.[0]?.method === "server/discover" ? "probes 2026-07-28, then " : "") +
          version,
        has(({ elicitation }) => elicitation !== undefined),
        has(({ extensions = {} }) => "io.modelcontextprotocol/ui" in extensions),
        has(({ roots }) => roots !== undefined),
        latest.note ?? "",
      ],
    ];
  });
  return table(
    ["Host", "Recorded", "Protocol", "Questions", "Views", "Roots[^deprecated]", "Notes"],
    rows,
  );
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

/**
 * For all hosts that take the same entry.
 *
 * @param {[ShownEntry, ...ShownEntry[]]} group
 * @param {Record<string, string>} links
 * @param {(host: Host) => string} restartOf
 */
function section(group, links, restartOf) {
  const [{ format, text }] = group;
  const more = group.map(({ id, host, command }) => {
    const said = [
      ...(command === undefined ? [] : [`Or run ${code(command)}.`]),
      ...(links[id] === undefined ? [] : [`Or open [this link](${links[id]}).`]),
      restartOf(host),
      ...[host.note ?? []].flat(),
    ];
    return `- **${host.title}.** ${said.join(" ")}`;
  });
  const titles = listed(group.map(({ host }) => host.title));
  return [`### ${titles}`, fenced(format, text), more.join("\n")].join("\n\n");
}

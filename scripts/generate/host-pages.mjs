// The generated parts of docs/hosts.md: each host's file and format, with a server that takes a directory.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { exampleOf, hostEntries, installLinks, printCommand, withSameText } from "./launch.mjs";
import { code, fenced, listed, table } from "./markdown.mjs";

/** @import { Server, State } from "./surface.mjs" */
/** @typedef {import("../../packages/refmcp/src/hosts/host-entry.ts").HostEntry} HostEntry */
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
  const entries = await hostEntries(example, state);
  const links = await installLinks(example, state);
  return {
    start: [
      ...(state.published ? [] : [FROM_A_CLONE]),
      "A host, the program that runs the assistant, starts a server by an entry. Let `refmcp` print it, with the server and the options you want:",
      fenced("sh", printCommand(example, "vscode", state, ["--read-only"])),
      `It prints exactly what to paste, and on stderr where it goes. The hosts are ${listed(entries.map(({ host }) => code(host)))}. ${code("json")} is the common form for any other host, which a server alone also prints, with ${code("--print-config")}.`,
    ].join("\n\n"),
    places: table(
      ["Host", "For a project", "For all projects", "Format", "Checked"],
      entries.map((entry) => [
        `[${entry.title}](${entry.documentation})`,
        places(entry, "project"),
        places(entry, "user"),
        entry.format.toUpperCase(),
        entry.checked,
      ]),
    ),
    abilities: abilities(entries),
    entries: withSameText(entries)
      .map((group) => section(group, links))
      .join("\n\n"),
  };
}

/** What each host declared to a server, in the latest recording of its first messages. @param {HostEntry[]} entries */
function abilities(entries) {
  /** @type {Recording[]} */
  const recorded = JSON.parse(readFileSync(join(ROOT, "test", "hosts", "openings.json"), "utf8"));
  const rows = entries.flatMap(({ host, title }) => {
    const recordings = recorded.filter((recording) => recording.host === host);
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

/** @param {HostEntry} entry @param {"project" | "user"} scope */
function places({ places, dialog }, scope) {
  const written = places
    .filter((place) => place.scope === scope && place.alternative !== true)
    .map(({ platform, path, installation }) => {
      const of = installation === undefined ? platform : `${platform}, ${installation}`;
      return platform === "any" ? code(path) : `${of}: ${code(path)}`;
    });
  return written.length === 0 && scope === "user" ? (dialog ?? "") : written.join("<br>");
}

/**
 * For all hosts that take the same entry.
 *
 * @param {[HostEntry, ...HostEntry[]]} group @param {Record<string, string | undefined>} links
 */
function section(group, links) {
  const [{ format, text, windowsText }] = group;
  const more = group.flatMap(({ host, title, shellCommand, restart, notes, windowsNotes }) => {
    const said = [
      ...(shellCommand === undefined ? [] : [`Or run ${code(shellCommand)}.`]),
      ...(links[host] === undefined ? [] : [`Or open [this link](${links[host]}).`]),
      restart,
      ...notes,
      ...windowsNotes.map((note) => `On Windows: ${note}`),
    ];
    return said.length === 0 ? [] : [`- **${title}.** ${said.join(" ")}`];
  });
  return [
    `### ${listed(group.map(({ title }) => title))}`,
    fenced(format, text),
    ...(windowsText === undefined
      ? []
      : ["<details><summary>On Windows</summary>", fenced(format, windowsText), "</details>"]),
    ...(more.length === 0 ? [] : [more.join("\n")]),
  ].join("\n\n");
}

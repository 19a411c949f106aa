import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import { type HelpFacts, renderHelp } from "./help.ts";
import { serverOptions } from "./options.ts";

const options = defineOptions({
  maxReadChars: {
    type: "integer",
    min: 1000,
    max: 80_000,
    default: 80_000,
    description: "Most characters of one read.",
  },
  journal: {
    type: "flag",
    default: true,
    description: "Keep what a change replaces, so that it can be undone.",
  },
  url: { type: "secret", env: ["DATABASE_URL"], description: "The database." },
  db: {
    type: "secret",
    named: "unique",
    valueName: "URL",
    description: "A database by a name of your own.",
  },
  hooks: {
    type: "enum",
    values: ["off", "run"],
    default: "off",
    description: "Whether hooks run.",
  },
  odd: { type: "flag", hidden: true, description: "For tests." },
});
const toolsets = {
  read: { description: "Reads and searches.", default: true },
  danger: { description: "Loses data permanently.", default: false },
};

function facts(change: Partial<HelpFacts> = {}): HelpFacts {
  return {
    title: "Filesystem",
    packageName: "@refmcp/server-filesystem",
    version: "1.2.3",
    description: "Reads, searches and changes files below the directories that you name.",
    all: serverOptions({ name: "filesystem", options, directories: {}, toolsets }),
    toolsets,
    ...change,
  };
}

describe("renderHelp", () => {
  it("reads well at 80 columns", () => {
    expect(renderHelp(facts())).toMatchInlineSnapshot(`
      "Filesystem 1.2.3 (@refmcp/server-filesystem)

      Reads, searches and changes files below the directories that you name.

      Usage: refmcp-server-filesystem [options] [DIR...] [command]

      Directories
        DIR, --root DIR             A directory that the server may access, including
                                    subdirectories. (repeatable)
        --roots narrow|replace|off  Whether the client's roots narrow these
                                    directories (and are used if none is given),
                                    replace them, or are ignored. MCP 2026-07-28
                                    deprecates roots. (default narrow)

      Options
        --max-read-chars N          Most characters of one read. (1,000 to 80,000;
                                    default 80,000)
        --[no-]journal              Keep what a change replaces, so that it can be
                                    undone. (default on)
        --url SECRET                The database. (also DATABASE_URL)
        --db NAME=URL               A database by a name of your own. (repeatable)
        --hooks off|run             Whether hooks run. (default off)

      Common
        --read-only                 Offer only read-only tools.
        --confirm ask|never         Ask before permanently losing data. If the client
                                    can't ask, the call is refused. (default ask)
        --toolsets LIST             Offer the tools of these toolsets instead of the
                                    default ones: all, default (read), read, danger.
                                    (comma-separated)
        --tools LIST                Offer only these tools; with --toolsets, these in
                                    addition. (comma-separated)
        --exclude-tools LIST        Do not offer these tools. (comma-separated)
        --timeout-ms MS             Time limit of one call. Many hosts give up after
                                    60,000. (100 to 3,600,000; default 50,000)
        --task-after-ms MS          A call that takes longer becomes a task, if the
                                    client supports tasks. (0 to 3,600,000; default
                                    5,000)
        --task-timeout-ms MS        Time limit of a task. (1,000 to 86,400,000;
                                    default 3,600,000)
        --max-answer-chars N        Maximum characters of one response. Truncated
                                    responses say how to get the rest. (1,000 to
                                    80,000; default 20,000)
        --audit-log FILE            Append one JSON line per tool call to this file,
                                    or to stderr with -. It has no contents.
        --log-level debug|info|warning|error
                                    How much to write to stderr. (default warning)
        --print-config              Print the entry for a host with these options, and
                                    exit.
        --version                   Print the version, and exit; also -v.
        --help                      Print this help, and exit; also -h. --help http:
                                    the options of HTTP.

      Toolsets
        read                        Reads and searches. (default)
        danger                      Loses data permanently.

      Commands
        call TOOL [arguments]       Call a tool; call --help shows how.
        tools [TOOL]                List the tools, or show the arguments of one.

      An option can also be set as an environment variable: REFMCP_FILESYSTEM_ and its
      name, in capitals and with underscores. Directories are separated as in PATH.
      The command line takes precedence.
      "
    `);
  });

  it("shows the options for HTTP, and only them, if asked for them", () => {
    const text = renderHelp(facts({ isHttp: true }));
    expect(text).toContain("\n  --http ADDRESS ");
    expect(text).not.toContain("--read-only");
    expect(renderHelp(facts())).not.toContain("--http ADDRESS");
  });
});

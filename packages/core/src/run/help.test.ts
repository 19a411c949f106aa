import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";
import {
  firstSentence,
  type HelpFacts,
  programName,
  renderHelp,
  renderOptionTable,
  renderToolTable,
} from "./help.ts";
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

      Safety
        --read-only                 Offer only read-only tools.
        --confirm ask|never         Ask before permanently losing data. If the client
                                    can't ask the user, the call is refused. (default
                                    ask)

      Tools
        --toolsets LIST             Offer the tools of these toolsets instead of the
                                    default ones: all, default (read), read, danger.
                                    (comma-separated)
        --tools LIST                Offer only these tools, or, with --toolsets, these
                                    in addition. (comma-separated)
        --exclude-tools LIST        Do not offer these tools. (comma-separated)

      Limits
        --timeout-ms MS             Time limit of one call in milliseconds. Many hosts
                                    give up after 60,000. (100 to 3,600,000; default
                                    50,000)
        --task-after-ms MS          Clients that support tasks get a task for a call
                                    that takes longer than this, and poll for its
                                    result. (0 to 3,600,000; default 5,000)
        --task-timeout-ms MS        Time limit of a task in milliseconds. (1,000 to
                                    86,400,000; default 3,600,000)
        --max-answer-chars N        Maximum characters of one response. Truncated
                                    responses say how to get the rest. (1,000 to
                                    80,000; default 20,000)
        --max-message-bytes N       Maximum size of a client message, in bytes.
                                    (65,536 to 1,073,741,824; default 16,777,216)

      HTTP
        --http ADDRESS              Serve over Streamable HTTP at /mcp instead of
                                    stdio, on [HOST:]PORT (host 127.0.0.1 by default)
                                    or on a Unix socket, unix:PATH.
        --sse                       With --http, also serve the older HTTP+SSE
                                    transport of 2024-11-05, at /sse.
        --websocket                 With --http, also serve WebSocket connections
                                    (subprotocol mcp), at /mcp.
        --tls-cert FILE             Serve HTTPS with this certificate chain (PEM).
        --tls-key FILE              The private key of the certificate (PEM).
        --allow-plain-http          Serve plain HTTP on an address that other machines
                                    can reach, for example behind a proxy that adds
                                    TLS.
        --auth-token-env NAME       Environment variable with the bearer token that
                                    every request must send.
        --oauth-issuer URL          Authorization server whose access tokens are
                                    accepted (OAuth 2.1, JWT).
        --oauth-audience URL        This server's own URL as clients know it, which
                                    access tokens must be issued for.
        --oauth-scope LIST          Scopes that an access token must have.
                                    (comma-separated)
        --oauth-tool-scopes         Require the scope of a tool's effect for its
                                    calls: NAME:read, NAME:add, NAME:change or
                                    NAME:destroy, for example git:read.
        --http-allow-host LIST      Additional host names allowed in requests, for
                                    example behind a proxy. (comma-separated)
        --http-allow-origin LIST    Host names of web pages that may call this server,
                                    in addition to those of this machine.
                                    (comma-separated)
        --http-stateless            Serve clients of MCP 2025-11-25 and earlier
                                    without sessions, so that a load balancer can send
                                    each request to any process. The server can then
                                    not ask their users.
        --http-rate N               Maximum requests per minute of an authenticated
                                    caller, a tenth of them in one burst; 0 for no
                                    limit. (0 to 1,000,000,000; default 6,000)
        --drain-ms MS               How long calls are still accepted after SIGTERM,
                                    while /readyz returns 503 so that a load balancer
                                    can stop sending them. (0 to 600,000; default
                                    5,000)
        --http-state-key-env NAME   Environment variable with a secret shared by the
                                    processes behind a load balancer, for questions to
                                    the user.

      Operation
        --audit-log FILE            Append one JSON line per tool call to this file,
                                    or to stderr with -: caller, tool, effect,
                                    duration, size and outcome, never contents.

      Information
        --log-level debug|info|warning|error
                                    How much to write to stderr. (default warning)
        --list-tools                List the tools offered with these options, and
                                    exit.
        --print-config              Print the entry for a host, with the other options
                                    given, and exit.
        --version                   Print the version, and exit; also -v.
        --help                      Print this help, and exit; also -h.

      Toolsets
        read    Reads and searches. (default)
        danger  Loses data permanently.

      Commands
        call TOOL [arguments]       Call a tool; call TOOL --help shows its arguments.
        tools [TOOL]                List the tools, or show the arguments of one.
        read URI                    Print a resource.

      Every option that affects serving can also be set as an environment variable:
      REFMCP_FILESYSTEM_ and its name: REFMCP_FILESYSTEM_READ_ONLY=1. Directories are
      separated as in PATH. The command line takes precedence.

      Examples
        npx -y @refmcp/server-filesystem ~/work --read-only
            Offer only read-only tools.
        npx -y @refmcp/server-filesystem ~/work --print-config
            Print the entry for a host.

      Read more: https://www.npmjs.com/package/@refmcp/server-filesystem
      "
    `);
  });

  it.each([40, 60, 80, 100])(
    "fits within %d columns, except commands and long labels",
    (columns) => {
      const whole = /^(Usage:.*|Read more:.*| {2}npx .*| {2}\S+( \S+)*)$/;
      for (const line of renderHelp(facts(), columns).split("\n")) {
        if (!whole.test(line)) expect(line.length, line).toBeLessThanOrEqual(columns);
      }
    },
  );

  it("has every visible option once, its default, range and further variables", () => {
    const text = renderHelp(facts()).replace(/\s+/g, " ");
    expect(text).toContain("DIR, --root DIR A directory");
    expect(text).toContain(
      "--max-read-chars N Most characters of one read. (1,000 to 80,000; default 80,000)",
    );
    expect(text).toContain(
      "--[no-]journal Keep what a change replaces, so that it can be undone. (default on)",
    );
    expect(text).toContain("--url SECRET The database. (also DATABASE_URL)");
    expect(text).toContain("--db NAME=URL A database by a name of your own. (repeatable)");
    expect(text).toContain("--exclude-tools LIST Do not offer these tools. (comma-separated)");
    expect(text).toContain("--hooks off|run Whether hooks run. (default off)");
    expect(text).toContain("read Reads and searches. (default)");
    expect(text).toContain("REFMCP_FILESYSTEM_READ_ONLY=1");
    expect(text).not.toContain("--odd");
    expect(text).toContain("--http ADDRESS");
  });

  it("mentions no npm package in a clone, since it may not be published", () => {
    const text = renderHelp(facts({ bin: "/a clone/dist/bin.js" }));
    expect(text).toContain("  node '/a clone/dist/bin.js' ~/work --read-only\n");
    expect(text).not.toMatch(/npx|npmjs/);
  });

  it("shows no positional argument if the server takes none", () => {
    const text = renderHelp(facts({ all: serverOptions({ name: "fetch", options: {} }) }));
    expect(text).toContain("Usage: refmcp-server-filesystem [options] [command]\n");
    expect(text).not.toContain("~/work");
  });
});

describe("renderToolTable", () => {
  const tools = [
    {
      name: "read_text_file",
      effect: "read",
      description: "Read a text file, e.g. a log. For binary files call read_media_file.",
    },
    { name: "write_file", effect: "change", description: "Create or replace a file." },
    {
      name: "list_directory",
      effect: "read",
      description: "List what a directory holds, sorted by name, with types and sizes.",
    },
  ] as const;

  it("aligns name, effect and first sentence, and counts", () => {
    expect(renderToolTable(tools, 60)).toBe(
      [
        "  read_text_file  read    Read a text file, e.g. a log.",
        "  write_file      change  Create or replace a file.",
        "  list_directory  read    List what a directory holds,",
        "                          sorted by name, with types and",
        "                          sizes.",
        "",
        "3 tools: 2 read, 1 change.",
        "",
      ].join("\n"),
    );
  });

  it("counts one tool, and reports if there is none", () => {
    expect(renderToolTable(tools.slice(0, 1))).toContain("\n1 tool: 1 read.\n");
    expect(renderToolTable([])).toBe("These options leave no tools.\n");
  });
});

describe("firstSentence", () => {
  it.each([
    ["One. Two.", "One."],
    ["With e.g. a dot. Next.", "With e.g. a dot."],
    ["Reads v1.2 files! More.", "Reads v1.2 files!"],
    ["No end", "No end"],
    ["Two\n lines. Next.", "Two lines."],
  ])("%j", (text, expected) => {
    expect(firstSentence(text)).toBe(expected);
  });
});

describe("renderOptionTable", () => {
  it("is a Markdown table of the visible options with their variables", () => {
    expect(renderOptionTable("filesystem", options)).toBe(
      [
        "| Option | What it does | Default | Environment |",
        "| --- | --- | --- | --- |",
        "| `--max-read-chars N` | Most characters of one read. (1,000 to 80,000) | `80,000` | `REFMCP_FILESYSTEM_MAX_READ_CHARS` |",
        "| `--[no-]journal` | Keep what a change replaces, so that it can be undone. | `on` | `REFMCP_FILESYSTEM_JOURNAL` |",
        "| `--url SECRET` | The database. |  | `REFMCP_FILESYSTEM_URL`, `DATABASE_URL` |",
        "| `--db NAME=URL` | A database by a name of your own. (repeatable) |  | `REFMCP_FILESYSTEM_DB` |",
        "| `--hooks off\\|run` | Whether hooks run. | `off` | `REFMCP_FILESYSTEM_HOOKS` |",
        "",
      ].join("\n"),
    );
  });
});

describe("programName", () => {
  it.each([
    ["@refmcp/server-git", "refmcp-server-git"],
    ["my-server", "my-server"],
  ])("%s → %s", (packageName, program) => {
    expect(programName(packageName)).toBe(program);
  });
});

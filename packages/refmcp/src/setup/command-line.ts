import { leftWidth, twoColumns, unknownNames, usableColumns } from "@refmcp/core/run";
import { HOST_NAMES, type HostName } from "../hosts/host-names.ts";

/** What the user asked `setup` or `doctor` to do. */
export interface SetupCommand {
  readonly hosts: readonly HostName[];
  readonly servers: readonly string[];
  readonly project: boolean;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly undo: boolean;
  readonly help: boolean;
  /** The directory and options for the servers themselves. */
  readonly words: readonly string[];
}

const FLAGS = {
  "--project": "project",
  "--yes": "yes",
  "-y": "yes",
  "--dry-run": "dryRun",
  "--undo": "undo",
  "--help": "help",
  "-h": "help",
} as const;

/** Reads the command line; what is not an option of `setup` belongs to the servers. */
export function parseSetup(argv: readonly string[]): SetupCommand | { readonly error: string } {
  const flags = { project: false, yes: false, dryRun: false, undo: false, help: false };
  const lists: Record<"--host" | "--servers", string[]> = { "--host": [], "--servers": [] };
  const words: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      words.push(...rest.splice(0));
      break;
    }
    const [name = "", value] = /^(--\w+)=(.*)$/s.exec(word)?.slice(1) ?? [word];
    if (name === "--host" || name === "--servers") {
      const given = value ?? rest.shift();
      if (given === undefined) return { error: `Option ${name} needs a value.` };
      lists[name].push(...given.split(",").filter((part) => part !== ""));
    } else if (Object.hasOwn(FLAGS, word)) {
      flags[FLAGS[word as keyof typeof FLAGS]] = true;
    } else {
      words.push(word);
    }
  }
  const unknown = unknownNames("--host", "host", lists["--host"], HOST_NAMES, "docs/hosts.md");
  if (unknown !== undefined) return { error: unknown };
  const hosts = HOST_NAMES.filter((host) => lists["--host"].includes(host));
  return { ...flags, hosts, servers: [...new Set(lists["--servers"])], words };
}

const OPTIONS: readonly (readonly [string, string])[] = [
  ["--host NAME", "Only this host, even if it is not found on this machine. (repeatable)"],
  [
    "--servers LIST",
    "An entry for each of these servers instead of one entry for all. (comma-separated)",
  ],
  ["--project", "Write the files of the current directory instead of those for all your projects."],
  ["--dry-run", "Show the changes and write nothing."],
  ["-y, --yes", "Write without asking."],
  ["--undo", "Restore the files as they were before."],
];

/** The output of `refmcp setup --help`. */
export function setupHelp(columns?: number): string {
  const rows = twoColumns(
    OPTIONS,
    leftWidth(
      OPTIONS.map(([left]) => left),
      20,
    ),
    usableColumns(columns),
  );
  return [
    "Usage: refmcp setup [DIR...] [options] [options of refmcp]",
    "",
    "Finds the MCP hosts on this machine, shows how their configuration files would change, writes them after you",
    "agree, and starts each entry as its host does.",
    "",
    "Options",
    ...rows,
    "",
    "Other options go into the entries: refmcp setup ~/project --sqlite app.db",
    "",
  ].join("\n");
}

/** The output of `refmcp doctor --help`. */
export const DOCTOR_HELP = `Usage: refmcp doctor [--host NAME]

Checks the entries of refmcp in the configuration files of your hosts, and starts each one as its host does. Exits with
1 if something does not work.
`;

import { existsSync } from "node:fs";
import { DOCTOR_HELP, parseSetup } from "./command-line.ts";
import { readConfigFile } from "./config-file.ts";
import { FORMATS } from "./edit.ts";
import {
  absentDirectories,
  type EntryStart,
  type FoundEntry,
  findEntries,
  startOfEntry,
} from "./entries.ts";
import { SetupProblem } from "./formats/text-format.ts";
import { processIo, type SetupIo } from "./io.ts";
import { fileToWrite, type KnownHost, type KnownPlace, knownHosts } from "./known-hosts.ts";
import { type Started, startAsHost } from "./start.ts";

/** A finding about a host: ✓, something to know, or something that does not work. */
interface Finding {
  readonly mark: "✓" | "!" | "✗";
  readonly text: string;
}

const good = (text: string): Finding => ({ mark: "✓", text });
const warning = (text: string): Finding => ({ mark: "!", text });
const broken = (text: string): Finding => ({ mark: "✗", text });

/**
 * Runs `refmcp doctor`: checks the entries of refmcp in all hosts' files, and starts each one as its host does.
 *
 * @returns the exit code: 1 if something does not work, 2 for an error in the command line
 */
export async function runDoctor(
  argv: readonly string[],
  given: Partial<SetupIo> = {},
): Promise<number> {
  const io = processIo(given);
  const command = parseSetup(argv);
  const extra = "error" in command ? [] : command.words;
  if ("error" in command || extra.length > 0) {
    io.errors.write(
      "error" in command
        ? `${command.error}\n`
        : `Unknown option or argument ${extra[0]}. See refmcp doctor --help.\n`,
    );
    return 2;
  }
  if (command.help) {
    io.output.write(DOCTOR_HELP);
    return 0;
  }
  let hasBroken = false;
  let entries = 0;
  const show = (title: string, findings: readonly Finding[]) => {
    if (findings.length === 0) return;
    io.output.write(
      `${title}\n${findings.map(({ mark, text }) => `  ${mark} ${text}\n`).join("")}`,
    );
    hasBroken ||= findings.some(({ mark }) => mark === "✗");
  };
  show("Node.js", [checkNode(io)]);
  const starts: Starts = new Map();
  for (const host of knownHosts(io, io.cwd)) {
    if (command.hosts.length > 0 && !command.hosts.includes(host.id)) continue;
    const files = [...new Map(host.places.map((place) => [place.file, place])).values()].filter(
      ({ file }) => existsSync(file),
    );
    const programs: string[] = [];
    for (const place of files) {
      const { found, findings } = readPlace(host, place, io);
      for (const one of found)
        findings.push(...(await checkEntry(one, host, place, programs, starts, io)));
      entries += found.length;
      show(`${host.title}: ${place.file}`, findings);
    }
  }
  if (entries === 0) {
    io.output.write("No host has an entry of refmcp. Add one with refmcp setup.\n");
    hasBroken = true;
  }
  return hasBroken ? 1 : 0;
}

function checkNode({ nodeVersion }: SetupIo): Finding {
  const [major = 0, minor = 0] = nodeVersion.split(".").map(Number);
  const isSupported = major > 20 || (major === 20 && minor >= 19);
  return isSupported
    ? good(nodeVersion)
    : broken(`${nodeVersion} is too old. refmcp needs 20.19 or newer.`);
}

/** The entries in a file, and what is wrong with the file itself. */
function readPlace(
  host: KnownHost,
  place: KnownPlace,
  io: SetupIo,
): { found: FoundEntry[]; findings: Finding[] } {
  try {
    const { text } = readConfigFile(place.file);
    if (text.trim() === "") return { found: [], findings: [] };
    const found = findEntries(host, FORMATS[host.format].parse(text), [io.bin]);
    const findings: Finding[] = [];
    if (found.length > 0 && host.format === "json" && !isStrictJson(text))
      findings.push(
        warning("This file has comments or trailing commas, which this host may not accept."),
      );
    const read = fileToWrite(host, place.scope, false);
    if (found.length > 0 && read !== undefined && read.installation !== place.installation)
      findings.push(
        broken(
          `This file is for another installation (${place.installation}). ${host.title} reads ${read.file}. Run refmcp setup --host ${host.id}.`,
        ),
      );
    return { found, findings };
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    return { found: [], findings: [broken(`This file ${error.message}`)] };
  }
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Starts = Map<string, Promise<Started>>;

async function checkEntry(
  found: FoundEntry,
  host: KnownHost,
  place: KnownPlace,
  programs: string[],
  starts: Starts,
  io: SetupIo,
): Promise<Finding[]> {
  const { name, entry, isRead } = found;
  if (!isRead) {
    const where = found.path.slice(0, -1).join(".");
    return [
      broken(
        `${name} is under ${where || "the top level"}, but ${host.title} reads entries under ${host.keyPath.join(".")}. Remove it and run refmcp setup --host ${host.id}.`,
      ),
    ];
  }
  const start = startOfEntry(entry);
  if (start === undefined) return [];
  const findings: Finding[] = [];
  if (entry.disabled === true || entry.enabled === false)
    findings.push(warning(`${name} is disabled.`));
  const program = programOf(start);
  // Every project can have its own entry.
  const scope = JSON.stringify(found.path.slice(0, -1));
  if (programs.includes(`${scope} ${program}`))
    findings.push(warning(`${name} starts ${program} a second time. Remove one of the entries.`));
  else if (program !== "refmcp" && programs.includes(`${scope} refmcp`))
    findings.push(
      warning(`${name} is also part of the entry for all servers. Remove one of them.`),
    );
  programs.push(`${scope} ${program}`);
  for (const directory of absentDirectories(start))
    findings.push(broken(`${name}: the directory ${directory} does not exist.`));
  const projectDirectory = place.scope === "project" ? io.cwd : undefined;
  const key = JSON.stringify([start, projectDirectory]);
  const starting = starts.get(key) ?? startAsHost(start, io, projectDirectory);
  starts.set(key, starting);
  const result = await starting;
  if (!result.ok) findings.push(broken(`${name} does not start: ${result.cause}`));
  else findings.push(good(`${name} starts and has ${result.tools} tools.`));
  if (result.ok && result.warning !== undefined)
    findings.push(warning(`${name}: ${result.warning}`));
  return findings;
}

/** Which server an entry starts: `refmcp`, `git` … */
function programOf({ command, args }: EntryStart): string {
  for (const word of [command, ...args]) {
    const single = /(?:@refmcp[\\/]server-|servers[\\/]|refmcp-server-)([a-z]+(?:-[a-z]+)*)/.exec(
      word,
    )?.[1];
    if (single !== undefined) return single;
    if (/(?:^|[\\/])refmcp(?:@|[\\/]|\.cmd|$)/.test(word)) return "refmcp";
  }
  return command;
}

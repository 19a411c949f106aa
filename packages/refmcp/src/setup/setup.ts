import { createInterface } from "node:readline/promises";
import type { HostName } from "../hosts/host-names.ts";
import { parseSetup, type SetupCommand, setupHelp } from "./command-line.ts";
import { bytesOf, ChangedMeanwhile, missingDirectories, writeConfigFile } from "./config-file.ts";
import { FORMATS } from "./edit.ts";
import { absentDirectories, type EntryStart, entryAt, entryPath, startOfEntry } from "./entries.ts";
import { SetupProblem } from "./formats/text-format.ts";
import { processIo, type SetupIo } from "./io.ts";
import { fileToWrite, type KnownHost, type KnownPlace, knownHosts } from "./known-hosts.ts";
import { type PlannedFile, planFile } from "./plan.ts";
import { renderDiff } from "./show.ts";
import { startAsHost } from "./start.ts";
import { planUndo, UndoStore, undo } from "./undo.ts";

const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/**
 * Runs `refmcp setup`: finds the hosts of this machine, shows how their files change, writes them after a yes, and
 * starts each entry as its host does.
 *
 * @returns the exit code: 1 if something does not work, 2 for an error in the command line
 */
export async function runSetup(
  argv: readonly string[],
  given: Partial<SetupIo> = {},
): Promise<number> {
  const io = processIo(given);
  const command = parseSetup(argv);
  if ("error" in command) {
    io.errors.write(`${command.error}\n`);
    return EXIT.usage;
  }
  if (command.help) {
    io.output.write(setupHelp(process.stdout.columns));
    return EXIT.ok;
  }
  try {
    return command.undo ? await undoAll(command, io) : await setUp(command, io);
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    io.errors.write(`${error.message}\n`);
    return EXIT.usage;
  }
}

/** A host's file, or why it is left alone. */
type Planned =
  | PlannedFile
  | { readonly host: KnownHost; readonly place: KnownPlace; readonly problem: string };

async function setUp(command: SetupCommand, io: SetupIo): Promise<number> {
  const all = knownHosts(io, io.cwd);
  const scope = command.project ? "project" : "user";
  const found = all.flatMap((host) => {
    const isNamed = command.hosts.includes(host.id);
    if (command.hosts.length > 0 && !isNamed) return [];
    const place = fileToWrite(host, scope, isNamed);
    return place === undefined ? [] : [{ host, place }];
  });
  if (found.length === 0) {
    const named = command.hosts.length > 0;
    const why = named
      ? `${command.hosts.join(" and ")} has no such file on this system.`
      : "No MCP host was found.";
    io.errors.write(`${why} Choose one with --host: ${all.map(({ id }) => id).join(", ")}.\n`);
    return EXIT.failed;
  }
  const planned: Planned[] = [];
  for (const { host, place } of found) planned.push(await planHost(host, place, command, io));
  const changed = planned.filter(
    (one): one is PlannedFile => "after" in one && one.after !== one.file.text,
  );
  const [absent] = planned.flatMap((one) =>
    startsOf(one).flatMap(({ start }) => absentDirectories(start)),
  );
  if (absent !== undefined)
    throw new SetupProblem(
      `The directory ${absent} does not exist, so nothing was written. Create it, or name another one.`,
    );
  for (const one of planned) io.output.write(`${describe(one)}\n`);
  if (command.dryRun) return EXIT.ok;
  if (
    changed.length > 0 &&
    !(await isAgreed(`Write ${count(changed.length, "file")}?`, command, io))
  ) {
    io.output.write("Nothing was written.\n");
    return command.yes || io.input.isTTY === true ? EXIT.ok : EXIT.usage;
  }
  const store = await UndoStore.open(io, true);
  const written: Planned[] = [];
  const files = new Set<string>();
  for (const one of changed) {
    // Two hosts can have one file, which now has the first one's entry.
    const now = files.has(one.file.path) ? await planHost(one.host, one.place, command, io) : one;
    files.add(one.file.path);
    written.push("after" in now ? await write(now, store, command, io) : now);
  }
  written.push(...planned.filter((one) => !changed.some((file) => file === one)));
  return report(written, command, io);
}

async function planHost(
  host: KnownHost,
  place: KnownPlace,
  command: SetupCommand,
  io: SetupIo,
): Promise<Planned> {
  const servers = command.servers.length === 0 ? ["refmcp"] : command.servers;
  const texts = new Map<string, string>();
  for (const server of servers)
    texts.set(server, await io.entryText(server, host.id, command.words));
  try {
    return planFile(host, place, texts, [io.bin]);
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error;
    return { host, place, problem: error.message };
  }
}

function describe(planned: Planned): string {
  const { host, place } = planned;
  const title = `${host.title}: ${place.file}`;
  if ("problem" in planned) return `${title}\n  ✗ This file ${planned.problem} It is left alone.\n`;
  const notes = planned.notes.map((note) => `  ! ${note}\n`).join("");
  if (planned.after === planned.file.text) return `${title}\n${notes}  Nothing to change.\n`;
  const before = planned.file.bytes === undefined ? undefined : planned.file.text;
  return `${title}\n${notes}${renderDiff(host, place.file, before, planned.after)}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Asks at the terminal; without one, only `--yes` agrees. */
async function isAgreed(
  question: string,
  { yes }: SetupCommand,
  { input, output, errors }: SetupIo,
): Promise<boolean> {
  if (yes) return true;
  if (input.isTTY !== true) {
    errors.write(
      "Not a terminal, so nobody can be asked. Add --yes to write, or --dry-run to only look.\n",
    );
    return false;
  }
  output.write(`${question} [y/N] `);
  const lines = createInterface({ input });
  try {
    for await (const answer of lines) return /^\s*y(?:es)?\s*$/i.test(answer);
    return false;
  } finally {
    lines.close();
  }
}

/** Writes a file; if another program has changed it since, the same change of its new content. */
async function write(
  planned: PlannedFile,
  store: UndoStore,
  command: SetupCommand,
  io: SetupIo,
): Promise<Planned> {
  let current = planned;
  for (let tries = 1; ; tries++) {
    const { host, place, file } = current;
    try {
      const bytes = bytesOf(current.after, file);
      await store.remember(current, bytes, missingDirectories(file.path));
      await writeConfigFile(file, bytes);
      return current;
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error;
      if (!(error instanceof ChangedMeanwhile) || tries === 3)
        return { host, place, problem: error.message };
      const again = await planHost(host, place, command, io);
      if (!("after" in again) || !isSameChange(current, again))
        return { host, place, problem: error.message };
      current = again;
    }
  }
}

/** Whether the user has agreed to this change already. */
function isSameChange(seen: PlannedFile, now: PlannedFile): boolean {
  return JSON.stringify(seen.changes) === JSON.stringify(now.changes);
}

/** What a host's file starts for the entries of this set-up. */
function startsOf(planned: Planned): { name: string; start: EntryStart }[] {
  if ("problem" in planned) return [];
  const { host, after, names } = planned;
  const data = FORMATS[host.format].parse(after);
  return names.flatMap((name) => {
    const start = startOfEntry(entryAt(data, entryPath(host, name)) ?? {});
    return start === undefined ? [] : [{ name, start }];
  });
}

/** Starts what the hosts start, each different entry once, since only a host can tell whether it accepts its file. */
async function report(
  planned: readonly Planned[],
  { project }: SetupCommand,
  io: SetupIo,
): Promise<number> {
  const groups = new Map<string, { name: string; start: EntryStart; hosts: KnownHost[] }>();
  let hasFailed = false;
  for (const one of planned) {
    if ("problem" in one) {
      hasFailed = true;
      io.output.write(`✗ ${one.host.title}: ${one.place.file} ${one.problem}\n`);
      continue;
    }
    hasFailed ||= one.names.length === 0;
    for (const { name, start } of startsOf(one)) {
      const key = JSON.stringify([name, start]);
      const group = groups.get(key) ?? { name, start, hosts: [] };
      group.hosts.push(one.host);
      groups.set(key, group);
    }
  }
  for (const { name, start, hosts } of groups.values()) {
    const result = await startAsHost(start, io, project ? io.cwd : undefined);
    hasFailed ||= !result.ok;
    const titles = hosts.map(({ title }) => title).join(", ");
    io.output.write(
      result.ok
        ? `✓ ${name} starts and has ${count(result.tools, "tool")}. Its entry is in the files of these hosts, which were not started:\n`
        : `✗ ${name} does not start in ${titles}: ${result.cause}\n`,
    );
    if (!result.ok) continue;
    if (result.warning !== undefined) io.output.write(`  ! ${result.warning}\n`);
    for (const { title, restart } of hosts) io.output.write(`  ${title}: ${restart}\n`);
  }
  return hasFailed ? EXIT.failed : EXIT.ok;
}

async function undoAll(command: SetupCommand, io: SetupIo): Promise<number> {
  const store = await UndoStore.open(io, false);
  const hosts: readonly HostName[] = command.hosts;
  const records = store.records().filter(({ host }) => hosts.length === 0 || hosts.includes(host));
  const known = new Map(knownHosts(io, io.cwd).map((host) => [host.id, host]));
  let hasFailed = false;
  const plans = records.flatMap((record) => {
    const host = known.get(record.host);
    try {
      const plan = planUndo(record);
      if (plan === undefined || host === undefined) {
        if (!command.dryRun) store.forget(record);
        return [];
      }
      const after = plan.after === undefined ? undefined : new TextDecoder().decode(plan.after);
      io.output.write(
        `${host.title}: ${record.file}\n${renderDiff(host, record.file, plan.file.text, after)}\n`,
      );
      return [{ host, plan }];
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error;
      hasFailed = true;
      io.output.write(`✗ ${record.file} ${error.message} It is left alone.\n`);
      return [];
    }
  });
  if (plans.length === 0) {
    io.output.write("Nothing to undo.\n");
    return hasFailed ? EXIT.failed : EXIT.ok;
  }
  if (command.dryRun) return EXIT.ok;
  if (!(await isAgreed(`Restore ${count(plans.length, "file")}?`, command, io))) return EXIT.usage;
  for (const { host, plan } of plans) {
    try {
      await undo(plan);
      store.forget(plan.record);
      io.output.write(`✓ ${host.title}: ${plan.record.file} is restored. ${host.restart}\n`);
    } catch (error) {
      if (!(error instanceof SetupProblem)) throw error;
      hasFailed = true;
      io.output.write(`✗ ${host.title}: ${plan.record.file} ${error.message}\n`);
    }
  }
  return hasFailed ? EXIT.failed : EXIT.ok;
}

import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { stateDirectories } from "@refmcp/boundary";
import { carryOptions, parseOptions, unknownNames } from "@refmcp/core/run";
import { allInstalled } from "../catalog.ts";
import { entryPath, fileText, restartOf } from "../hosts/entry.ts";
import { HOST_NAMES } from "../hosts/hosts.ts";
import { allOptions } from "../options.ts";
import { countTools, startOf } from "./check.ts";
import { entryAt, readConfig, SetupProblem, writeConfig } from "./file.ts";
import { type InstalledHost, installedHosts, type Machine } from "./machine.ts";
import { does, NAME, type Plan, planOf, type Settings, writePlan } from "./plan.ts";
import { Terminal, type TerminalIo } from "./terminal.ts";
import { changesIn, planUndo, recordFile, remember, type Undo } from "./undo.ts";

/** The machine and the terminal that `setup` works with. */
interface SetupIo extends Machine, TerminalIo {
  readonly cwd: string;
  /** The file of `refmcp` that node runs. */
  readonly bin: string;
  /** Where the record for `--undo` is kept, in order of preference. */
  readonly stateDirectories: readonly string[];
}

const HELP = `Usage: refmcp setup [DIR...] [options] [options of refmcp]

Finds the MCP hosts on this machine, shows the entry for each one's configuration, and writes it when you agree. Where a
host reports the project that is open, the entry follows it; elsewhere it allows DIR.

Options
  --host NAME  Only this host, even if it is not found on this machine. (repeatable)
  --fixed      Allow DIR also where the host reports the open project.
  --dry-run    Show the changes and write nothing.
  -y, --yes    Write without asking.
  --check      Read the entries again, and start what they start.
  --undo       Remove the entries that setup wrote, or restore those that it replaced.

Other options go into the entries: refmcp setup ~/project --sqlite app.db`;
const FLAGS = ["--fixed", "--dry-run", "-y", "--yes", "--check", "--undo", "-h", "--help"];

/**
 * Runs `refmcp setup`.
 *
 * @returns the exit code: 1 if something does not work, 2 for an error in the command line
 */
export async function runSetup(
  argv: readonly string[],
  changed: Partial<SetupIo> = {},
): Promise<number> {
  const io: SetupIo = {
    input: process.stdin,
    output: process.stdout,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    platform: process.platform,
    bin: realpathSync(process.argv[1] ?? ""),
    stateDirectories: stateDirectories("setup"),
    ...changed,
  };
  const setup = new Setup(io, argv);
  await setup.attempt("", () => setup.run(), 2);
  setup.close();
  return setup.exitCode;
}

class Setup extends Terminal {
  readonly #io: SetupIo;
  readonly #flags: readonly string[];
  /** The names of the hosts to set up; empty for all that are found. */
  readonly #names: string[] = [];
  /** The options for the servers. */
  readonly #words: string[] = [];

  constructor(io: SetupIo, argv: readonly string[]) {
    super(io, argv.includes("-y") || argv.includes("--yes"));
    this.#io = io;
    this.#flags = argv.filter((word) => FLAGS.includes(word));
    const rest = argv.filter((word) => !FLAGS.includes(word));
    for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
      if (!/^--host(?:=|$)/.test(word)) this.#words.push(word);
      else this.#names.push(...(word.slice("--host=".length) || rest.shift() || "").split(","));
    }
  }

  /** @throws {SetupProblem} for an error in the command line */
  async run(): Promise<void> {
    if (this.#flags.some((flag) => /^--?h/.test(flag))) return this.write(HELP);
    const mistake = unknownNames("--host", "host", this.#names, HOST_NAMES, "docs/hosts.md");
    if (mistake !== undefined) throw new SetupProblem(mistake);
    if (this.#flags.includes("--undo")) return this.#undo();
    const hosts = installedHosts(this.#names, this.#io);
    if (hosts.length === 0)
      throw new SetupProblem(
        `No host was found. Choose with --host: ${HOST_NAMES.slice(0, -1).join(", ")}. For any other, refmcp --print-config json prints an entry.`,
      );
    return this.#flags.includes("--check") ? this.#check(hosts) : this.#setUp(hosts);
  }

  /** Reads the options for the servers as the program itself does, and asks for what is missing. */
  async #settings(hosts: readonly InstalledHost[]): Promise<Settings> {
    const { env, cwd, home } = this.#io;
    const argv = this.#words;
    const all = allOptions(await allInstalled(argv, env));
    const read = parseOptions(all.server, all.table, { argv, env, cwd, home });
    if (!read.ok) throw new SetupProblem(read.message);
    const carried = carryOptions(all.server, all.table, read, process.platform);
    let directories = [read.values.directories ?? []].flat().map(String);
    const titles = (what: "roots" | "search", has: boolean) =>
      hosts.flatMap(({ host }) => (does(host, what) === has ? host.title : [])).join(", ");
    const [following, others] = [titles("roots", true), titles("roots", false)];
    const listing = titles("search", false);
    let isFixed = this.#flags.includes("--fixed");
    let findsTools = read.values.findTools === true;
    if (this.canAsk && directories.length > 0 && following !== "" && !isFixed) {
      const question = `Allow the open project (p), or ${directories.join(", ")} (d), in ${following}? [p]`;
      isFixed = /^d/i.test(await this.ask(question));
    }
    if (this.canAsk && directories.length === 0 && others !== "") {
      const question = `${others} cannot tell which project is open. Which folder may they use? (empty: leave them out)`;
      const answer = (await this.ask(question)).replace(/^~(?=[\\/]|$)/, home);
      if (answer !== "") directories = [resolve(cwd, answer)];
    }
    const question = `In ${listing}, every tool is in the model's context. List only find_tools and call_tool there? What you allow once for call_tool is then allowed for every tool.`;
    if (this.canAsk && listing !== "" && !findsTools) findsTools = await this.agrees(question);
    const absent = directories.find((directory) => !existsSync(directory));
    if (absent !== undefined)
      throw new SetupProblem(`The directory ${absent} does not exist, so nothing was written.`);
    const isOwn = (word: string) => !directories.includes(word) && word !== "--find-tools";
    return { directories, isFixed, findsTools, ...carried, args: carried.args.filter(isOwn) };
  }

  async #setUp(hosts: readonly InstalledHost[]): Promise<void> {
    const settings = await this.#settings(hosts);
    const plans: Plan[] = [];
    for (const installed of hosts) {
      const { host, file } = installed;
      const subject = `${host.title}: ${file}`;
      const plan = await this.attempt(subject, () => planOf(installed, settings, this.#io.bin));
      if (plan === undefined) continue;
      const entry = JSON.stringify(plan.entry);
      const pasted = fileText(host, NAME, plan.entry);
      if (host.format === "yaml") this.write(`${subject}\n  Merge this into the file:\n${pasted}`);
      else if (plan.text === plan.config.text) this.write(`${subject}\n  has this entry: ${entry}`);
      else {
        this.write(`${subject}\n  + ${plan.path.join(".")} ${entry}`);
        plans.push(plan);
      }
    }
    if (plans.some(({ host }) => does(host, "roots")) && !settings.isFixed)
      this.write("Entries without a folder allow the project that is open in the host.");
    if (plans.length === 0) return;
    const isDry = this.#flags.includes("--dry-run");
    if (!(await this.mayWrite(`Write these entries (${plans.length})?`, isDry))) return;
    const record = await recordFile(this.#io.stateDirectories);
    const written: Plan[] = [];
    for (const plan of plans)
      await this.attempt(`${plan.host.title}: ${plan.file}`, async () => {
        await writePlan(plan, record, this.#io);
        written.push(plan);
      });
    if (written.length > 0) await this.#check(written);
  }

  /** Reads the entries of hosts again, and starts each different one once. */
  async #check(hosts: readonly InstalledHost[]): Promise<void> {
    const starts = new Map<string, Promise<number>>();
    for (const { host, file } of hosts) {
      const subject = `${host.title}: ${file}`;
      await this.attempt(subject, async () => {
        const entry = entryAt(readConfig(file, host.format).data, entryPath(host, NAME));
        if (host.format === "yaml") this.write(`${subject} is YAML, which setup does not check.`);
        if (entry === undefined) return;
        const start = startOf(entry);
        const key = JSON.stringify(start);
        const starting = starts.get(key) ?? countTools(start, this.#io);
        starts.set(key, starting);
        const fact = `has the entry, which starts and lists ${await starting} tools.`;
        this.write(`✓ ${subject} ${fact}\n  ${restartOf(host)}`);
      });
    }
    if (starts.size > 0) return this.write("The hosts themselves were not started.");
    throw new SetupProblem("No entry of refmcp was found to check. Add one with refmcp setup.");
  }

  async #undo(): Promise<void> {
    const record = await recordFile(this.#io.stateDirectories);
    const plans: Undo[] = [];
    for (const [file, change] of Object.entries(changesIn(record))) {
      if (this.#names.length > 0 && !this.#names.includes(change.host)) continue;
      const plan = await this.attempt(file, () => planUndo(file, change));
      if (plan === undefined) continue;
      plans.push(plan);
      const what = change.before === null ? "-" : "restore";
      this.write(`${file}\n  ${what} ${change.path.join(".")}`);
    }
    if (plans.length === 0) return this.write("Nothing to undo.");
    if (!(await this.mayWrite("Undo this?", this.#flags.includes("--dry-run")))) return;
    for (const { file, config, text } of plans)
      await this.attempt(file, async () => {
        await writeConfig(config, text, false);
        await remember(record, file);
        this.write(`✓ ${file}`);
      });
  }
}

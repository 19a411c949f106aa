// The command line of refmcp-judge.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CannotJudge, countOf, type JudgeOptions, judge } from "./judge.ts";
import { type Json, objectOf } from "./link.ts";
import { FORMATS, report, summaryOf } from "./report.ts";
import { FAMILIES, isFamily, SEVERITIES } from "./rules.ts";

export const HELP = `Usage: refmcp-judge [options] -- COMMAND [ARGUMENT…]
       refmcp-judge [options] URL

Judges any MCP server, offline and without a model: starts it as hosts do, in the revisions 2025-11-25 and
2026-07-28, and reports what it breaks, with the sentence of the specification or the reason.

By default, it only sends calls that a server must refuse. A server that does not check its arguments may run
them: judge it on data that you can lose.

  --call-read-only        call read-only tools, with arguments from the examples in their schemas
  --calls FILE            call tools with the arguments in a JSON file: {"TOOL": {…}, "TOOL": [{…}, {…}]}
  --watch DIR             report read-only tools that change files below this directory
  --only FAMILY,…         only these families of rules: ${Object.keys(FAMILIES).slice(0, 8).join(", ")},
                          ${Object.keys(FAMILIES).slice(8).join(", ")}
  --size MB               size of large hostile messages; default 1
  --hostile-seconds N     time for all hostile calls; default 120
  --timeout-seconds N     time for a request; default 30
  --start-seconds N       time to start; default 60
  --env NAME[=VALUE]      pass a variable of the environment, or set it; repeatable
  --cwd DIR               the server's working directory
  --bearer-env NAME       over HTTP: the variable of the environment with the bearer token
  --format FORMAT         ${FORMATS.join(", ")}; default text
  --output FILE           write the report to a file
  --artifact FILE         the file that SARIF findings point to; default package.json
  --fail-on SEVERITY      error, warning, note or never; default error
  --help, --version

Exit status: 0 without a finding of this severity, 1 with one, 2 if the server could not be judged.
`;

const OPTIONS = {
  "call-read-only": { type: "boolean" },
  calls: { type: "string" },
  watch: { type: "string" },
  only: { type: "string" },
  size: { type: "string" },
  "hostile-seconds": { type: "string" },
  "timeout-seconds": { type: "string" },
  "start-seconds": { type: "string" },
  env: { type: "string", multiple: true },
  cwd: { type: "string" },
  "bearer-env": { type: "string" },
  format: { type: "string", default: "text" },
  output: { type: "string" },
  artifact: { type: "string", default: "package.json" },
  "fail-on": { type: "string", default: "error" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

/** Where the command writes. */
export interface Terminal {
  stdout(text: string): void;
  stderr(text: string): void;
  readonly isInteractive: boolean;
}

/** Runs the command. @returns the exit status. */
export async function run(
  argv: readonly string[],
  version: string,
  terminal: Terminal,
): Promise<number> {
  try {
    return await judged(argv, version, terminal);
  } catch (error) {
    const isUsage = error instanceof Usage || (error instanceof TypeError && "code" in error);
    if (!isUsage && !(error instanceof CannotJudge)) throw error;
    terminal.stderr(`${error.message.trim()}${isUsage ? " See refmcp-judge --help." : ""}\n`);
    return 2;
  }
}

class Usage extends Error {}

async function judged(
  argv: readonly string[],
  version: string,
  terminal: Terminal,
): Promise<number> {
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
    tokens: true,
  });
  if (values.help === true || argv.length === 0) {
    terminal.stdout(HELP);
    return argv.length === 0 ? 2 : 0;
  }
  if (values.version === true) {
    terminal.stdout(`refmcp-judge ${version}\n`);
    return 0;
  }
  const format = oneOf("format", values.format, FORMATS);
  const failOn = oneOf("fail-on", values["fail-on"], [...SEVERITIES, "never"] as const);
  const target = targetOf(
    positionals,
    tokens.some(({ kind }) => kind === "option-terminator"),
    values,
  );
  const verdict = await judge({
    target,
    calls: values.calls === undefined ? {} : callsIn(values.calls),
    readOnly: values["call-read-only"] === true,
    ...(values.watch !== undefined && { watch: directory("watch", values.watch) }),
    ...(values.only !== undefined && { only: values.only.split(",").map(family) }),
    bytes: positive("size", values.size ?? "1") * 1_000_000,
    startMs: positive("start-seconds", values["start-seconds"] ?? "60") * 1_000,
    limits: {
      requestMs: positive("timeout-seconds", values["timeout-seconds"] ?? "30") * 1_000,
      hostileMs: positive("hostile-seconds", values["hostile-seconds"] ?? "120") * 1_000,
    },
    ...(terminal.isInteractive && { progress: (what) => terminal.stderr(`${what}\n`) }),
  });
  const text = report(verdict, format, values.artifact);
  if (values.output === undefined) terminal.stdout(text);
  else {
    writeFileSync(values.output, text);
    terminal.stderr(`${summaryOf(verdict)}: see ${values.output}.\n`);
  }
  if (failOn === "never") return 0;
  const failing = SEVERITIES.slice(0, SEVERITIES.indexOf(failOn) + 1);
  return failing.some((severity) => countOf(verdict.findings, severity) > 0) ? 1 : 0;
}

interface TargetValues {
  readonly env?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly "bearer-env"?: string | undefined;
}

function targetOf(
  positionals: readonly string[],
  hasCommand: boolean,
  values: TargetValues,
): JudgeOptions["target"] {
  const [first = ""] = positionals;
  if (first === "") throw new Usage("Name the server to judge: a command after --, or a URL.");
  if (hasCommand) {
    const env = Object.fromEntries((values.env ?? []).map(variable));
    return { command: positionals, env, cwd: directory("cwd", values.cwd ?? process.cwd()) };
  }
  if (!/^https?:\/\//.test(first) || !URL.canParse(first) || positionals.length > 1)
    throw new Usage(`${first} is not an HTTP URL. Put -- before the command of a server.`);
  const name = values["bearer-env"];
  const token = name === undefined ? undefined : process.env[name];
  if (name !== undefined && token === undefined)
    throw new Usage(`The environment has no variable ${name} (--bearer-env).`);
  return { url: first, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
}

function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (value === undefined) throw new Usage(`The environment has no variable ${name} (--env).`);
  return [name, value];
}

function oneOf<Choice extends string>(
  option: string,
  value: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((one) => one === value);
  if (found === undefined)
    throw new Usage(`--${option} ${value} is not one of ${choices.join(", ")}.`);
  return found;
}

function family(name: string): keyof typeof FAMILIES {
  if (isFamily(name)) return name;
  throw new Usage(`--only ${name} is not one of ${Object.keys(FAMILIES).join(", ")}.`);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Usage(`--${option} ${text} is not a positive number.`);
}

function directory(option: string, path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new Usage(`--${option} ${path} is not a directory.`);
}

function callsIn(file: string): Record<string, Json | Json[]> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Usage(
      `--calls ${file} cannot be read as JSON: ${error instanceof Error ? error.message : ""}.`,
    );
  }
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([tool, args]) => [
      tool,
      Array.isArray(args) ? args.map(objectOf) : objectOf(args),
    ]),
  );
}

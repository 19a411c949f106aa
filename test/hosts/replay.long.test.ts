import { readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { inWorld, READY } from "../conformance/ready.ts";
import { Recorder } from "../protocol/recorder.ts";
import { type Fields, fieldsAt, listAt, REVISIONS, type Revision } from "../protocol/revisions.ts";
import { useWorld } from "../servers.ts";

/** A host's first messages to a server, line by line, as publicly documented. */
interface RecordedHost {
  /** Its name for `--print-config`. */
  readonly host: string;
  readonly version: string;
  /** Where the lines are documented. */
  readonly sources: readonly string[];
  /** What is special about it. */
  readonly note?: string;
  /** The working directory in which it starts a server, if known. */
  readonly cwd?: string;
  /** The raw lines on the wire; the host waits for the answer to a probe and to `initialize`. */
  readonly opening: readonly [string, ...string[]];
  /** `_meta` of a tool call, if the host sends one. */
  readonly callMeta?: Readonly<Record<string, unknown>>;
}

/**
 * The hosts, with older versions before the latest if they differ on the wire. Every `initialize` is from a source, unless its
 * note says otherwise; a request that a source only mentions is written like the client's others. The table of abilities in
 * docs/hosts.md is generated from the same file.
 */
const RECORDED: readonly RecordedHost[] = JSON.parse(
  readFileSync(new URL("openings.json", import.meta.url), "utf8"),
);

/** The revision that the host's `initialize` asks for. */
function revisionOf({ host, opening }: RecordedHost): Revision {
  const initialize = opening.find((line) => JSON.parse(line).method === "initialize");
  const { protocolVersion } = fieldsAt(JSON.parse(initialize ?? "{}"), "params");
  const revision = REVISIONS.find((known) => known === protocolVersion);
  if (revision === undefined) throw new Error(`${host} asks for ${String(protocolVersion)}.`);
  return revision;
}

/** The latest version of each host. The earlier ones get the server that asks most of a host, for roots and confirmations. */
const CURRENT = RECORDED.filter(({ host }, index) => RECORDED[index + 1]?.host !== host);

it("has the sources of every recording", () => {
  for (const { host, sources } of RECORDED) expect(sources.length, host).toBeGreaterThan(0);
});

describe.each(READY)("the %s server", (name) => {
  const there = useWorld(name);
  const hosts = name === "filesystem" ? RECORDED : CURRENT;

  it.each(hosts)("answers the first messages of $host $version, and a call", async (recorded) => {
    const world = there();
    const { args, calls } = world;
    const workspace = args.find(isDirectory) ?? tmpdir();
    const revision = revisionOf(recorded);
    const recorder = new Recorder({ ...inWorld(name, world), cwd: recorded.cwd }, revision, {
      answer: (method) =>
        method === "roots/list"
          ? { roots: [{ uri: pathToFileURL(workspace).href, name: "project" }] }
          : {},
    });
    const answers = await replay(recorder, recorded);

    const initialized = fieldsAt(answers.get("initialize")?.[0], "result");
    expect(initialized.protocolVersion).toBe(revision);
    const capabilities = fieldsAt(initialized.capabilities);
    for (const [method, replies] of answers) {
      const [kind = ""] = method.split("/");
      const has = kind === "initialize" || kind === "server" || kind in capabilities;
      for (const reply of replies) {
        if (has) expect(reply, method).toHaveProperty("result");
        else expect(reply, method).toMatchObject({ error: { code: -32601 } });
      }
      const [first, ...others] = replies.map(({ result }) => result);
      for (const other of others) expect(other, method).toEqual(first);
    }

    const tools = listAt(answers.get("tools/list")?.[0], "result", "tools");
    const reading = tools.find((tool) => fieldsAt(tool, "annotations").readOnlyHint === true);
    const tool = String(reading?.name);
    const meta = recorded.callMeta === undefined ? {} : { _meta: recorded.callMeta };
    const called = await recorder.sendRequest({
      jsonrpc: "2.0",
      id: 100,
      method: "tools/call",
      params: { name: tool, arguments: calls[tool] ?? {}, ...meta },
    });
    const result = fieldsAt(called, "result");
    expect(called, tool).toHaveProperty("result");
    expect(result.isError, JSON.stringify(result)).not.toBe(true);
    // The recorder has checked every line against the schema and the host's capabilities, and that each has its answer.
    expect(await recorder.finish()).toEqual([]);
  });
});

/** Writes the host's raw lines; returns the responses by method. */
async function replay(
  recorder: Recorder,
  { opening }: RecordedHost,
): Promise<Map<string, Fields[]>> {
  const answers = new Map<string, Fields[]>();
  const sent: Promise<void>[] = [];
  for (const line of opening) {
    const message: Fields = JSON.parse(line);
    const { id, method } = message;
    if (id === undefined) {
      recorder.write(line);
      continue;
    }
    recorder.expect(message);
    const answer = recorder
      .next((reply) => !("method" in reply) && reply.id === id)
      .then((reply) => {
        answers.set(String(method), [...(answers.get(String(method)) ?? []), reply]);
      });
    recorder.write(line);
    if (method === "initialize" || method === "server/discover") await answer;
    sent.push(answer);
  }
  await Promise.all(sent);
  return answers;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

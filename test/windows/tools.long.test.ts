import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { World } from "@refmcp/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin, serverWorld } from "../servers.ts";
import type { Session } from "./inside/tools.ts";
import { bundledBin, inWine, type Line, onZ, START_MS, windows } from "./wine.ts";

/** Options that enable the tools that need one. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  fetch: [],
  filesystem: [],
  memory: [],
  postgres: ["--allow-write"],
  sqlite: ["--allow-write", "--allow-ddl"],
};
const ERAS = ["legacy", "modern"] as const;
/** Tools whose calls need something that is not there: */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  // the fixtures recorded the changes with paths of this system; files.long.test.ts and data.long.test.ts undo some,
  filesystem: ["undo_change"],
  sqlite: ["undo_database_change"],
};

/** The tools that a built server describes, with those that only read first. */
async function toolsOf(server: string): Promise<{ name: string; reads: boolean }[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [serverBin(server), "--describe"],
    {
      maxBuffer: 2 ** 26,
    },
  );
  const { tools }: { tools: { name: string; annotations: { readOnlyHint?: boolean } }[] } =
    JSON.parse(stdout);
  return tools
    .filter(({ name }) => !ELSEWHERE[server]?.includes(name))
    .map(({ name, annotations }) => ({ name, reads: annotations.readOnlyHint === true }));
}

describe.each(Object.keys(OPTIONS))("the %s server on Windows", (server) => {
  const worlds: World[] = [];
  let names: string[] = [];
  let asked: Record<Session["era"], string[][]> = { legacy: [], modern: [] };
  let lines: readonly Line[] = [];

  /** A session in a fresh world of the server's fixture, whose files are on drive Z. */
  async function session(era: Session["era"], tools: readonly string[]): Promise<Session> {
    const world = await serverWorld(server);
    worlds.push(world);
    return {
      server,
      bin: onZ(await bundledBin(server)),
      era,
      args: [...world.args.map(inWine), "--toolsets", "all", ...(OPTIONS[server] ?? [])],
      env: { ...world.env },
      calls: tools.flatMap((name) => [
        ...(world.before?.[name] ?? []),
        { name, arguments: { ...world.calls[name] } },
      ]),
    };
  }

  beforeAll(async () => {
    const there = await windows();
    const tools = await toolsOf(server);
    const reading = tools.filter(({ reads }) => reads).map(({ name }) => name);
    const changing = tools.filter(({ reads }) => !reads).map(({ name }) => name);
    // A call that changes something gets a fresh world, which takes seconds: each with one of the two protocols.
    asked = {
      legacy: [reading, ...changing.filter((_, index) => index % 2 === 0).map((name) => [name])],
      modern: [reading, ...changing.filter((_, index) => index % 2 === 1).map((name) => [name])],
    };
    names = tools.map(({ name }) => name).sort();
    const sessions: Session[] = [];
    for (const era of ERAS)
      for (const group of asked[era]) sessions.push(await session(era, group));
    const ends = ERAS.flatMap((era) => sessions.find((candidate) => candidate.era === era) ?? []);
    lines = await there.run("tools", { sessions, ends });
  }, START_MS);
  afterAll(() => Promise.all(worlds.map((world) => world.dispose())));

  describe.each(ERAS)("with a client of the %s protocol", (era) => {
    const events = (event: string) =>
      lines.filter((line) => line.era === era && line.event === event);

    it("lists every tool", () => {
      expect(lines.filter(({ event }) => event === "failed")).toEqual([]);
      const [first] = events("tools");
      expect(first?.names).toEqual(expect.arrayContaining(names));
    });

    it("answers the calls", () => {
      const calls = events("call");
      expect(calls.map(({ name }) => name)).toEqual(expect.arrayContaining(asked[era].flat()));
      expect(calls.filter(({ isError }) => isError)).toEqual([]);
    });

    it("ends by itself when its input ends", () => {
      expect(events("end")).toEqual([
        { server, era, event: "end", code: 0, signal: null, isAnswered: true },
      ]);
    });
  });
});

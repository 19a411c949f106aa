import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secrets } from "../src/browser/secrets/secrets.ts";
import type { RunReport } from "../src/browser/verdict/report.ts";
import type { Site } from "./lab.ts";
import { PAGES, SECRETS } from "./secret-pages.ts";
import { type Session, session, site } from "./session.ts";
import { makeTester, type TestTester } from "./testers.ts";
import { unpack } from "./unpack.ts";
import { untimed } from "./untimed.ts";

/** An attack of docs/secret-attacks.md: the lines after its sentence, by their first words. */
interface Attack {
  readonly attack: string;
  readonly of: (key: string) => string[];
}

const LIST = readFileSync(new URL("../docs/secret-attacks.md", import.meta.url), "utf8");
const ATTACKS: Attack[] = [...LIST.matchAll(/^```text\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block = ""]) => block.split(/\n(?! )/).filter((one) => one !== ""))
  .map((text) => {
    const [attack = "", ...lines] = text.split("\n");
    const pairs = lines.map((line) => /^ {2}([a-z ]+): (.*)$/.exec(line)?.slice(1) ?? [line, ""]);
    return {
      attack,
      of: (key) => pairs.flatMap(([word, rest = ""]) => (word === key ? rest : [])),
    };
  });
const isCall = ({ of }: Attack) => of("call").length > 0;
const named = (all: readonly Attack[]) => all.map((one) => [one.attack, one] as const);

let lab: TestTester;
let web: Site;

async function open(): Promise<void> {
  const server = createServer();
  // A WebSocket that sends each short frame back.
  server.on("upgrade", ({ headers }, socket) => {
    const accept = createHash("sha1").update(
      `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
    );
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept.digest("base64")}\r\n\r\n`,
    );
    socket.on("data", (frame: Buffer) => {
      const data = frame.subarray(6).map((byte, at) => byte ^ (frame[2 + (at % 4)] ?? 0));
      if (frame[0] === 0x81) socket.write(Buffer.concat([Buffer.from([0x81, data.length]), data]));
    });
  });
  const pages = Object.fromEntries(Object.entries(PAGES).map(([name, html]) => [`/${name}`, html]));
  const echo: Parameters<typeof site>[0] = {
    "/api": (request, response) => {
      response.setHeader("x-echo", request.url ?? "");
      request.pipe(response);
    },
  };
  web = await site({ ...pages, ...echo, "/": PAGES.mirrors }, "127.0.0.1", server);
  lab = await makeTester({ secrets: new Secrets(Object.entries(SECRETS)) });
}

/** What came out of a run: its answer, its pictures, and the text of everything. */
interface Out {
  readonly report: RunReport;
  readonly pictures: readonly Buffer[];
  readonly text: string;
}

const look = { limit: 40, budget: 8_000 };
const EVIDENCE = ["full_page", "trace", "har", "network", "a11y"] as const;
/** Where the texts of all evidence are read; elsewhere only the picture, which is quicker. */
const isDeep = (on: string, steps: readonly string[]) =>
  on === "socket" || (on === "" && steps.length === 1);

async function run(on: string, steps: readonly string[], checks: readonly string[]): Promise<Out> {
  const request = {
    url: `${web.url}/${on}`,
    steps: [...steps, "wait for network idle"],
    assertions: checks.map((one) => (/^no /.test(one) ? one : `${one} within 50ms`)),
    look,
    evidence: isDeep(on, steps) ? [...EVIDENCE] : (["full_page"] as const),
  };
  const report = await lab
    .run({ ...request, evidence: [...request.evidence] })
    .catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      return {
        url: web.url,
        assertions: [],
        durationMs: 0,
        passed: false,
        failed_step: error.message,
      };
    });
  const kept = "artifacts" in report ? (report.artifacts ?? []) : [];
  const files = await Promise.all(
    kept.map(async ({ name, path }) =>
      name.endsWith(".zip")
        ? [...(await unpack(path))].map(([inner, data]) => ({
            name: inner,
            data: Buffer.from(data),
          }))
        : [{ name, data: await readFile(path) }],
    ),
  );
  const all = files.flat();
  return {
    report,
    pictures: all.filter(({ name }) => name.endsWith(".png")).map(({ data }) => data),
    text: JSON.stringify([report, ...all.map(({ name, data }) => [name, data.toString("utf8")])]),
  };
}

const secretsOf = ({ of }: Attack): string[] => of("secrets")[0]?.split(" ") ?? ["KEY", "ELSE"];

/** Makes the runs of an attack, with these checks, with one of its two secrets. */
async function attacked(attack: Attack, checks: readonly string[], name: string): Promise<Out[]> {
  const { of } = attack;
  const [first = ""] = secretsOf(attack);
  const given = of("write");
  const writes = given.length === 0 ? ["fill 'Token' with secret 'KEY'"] : given;
  const steps = [
    ...writes.map((one) => one.replace(`secret '${first}'`, `secret '${name}'`)),
    ...of("step"),
  ];
  const now = await run(of("page")[0] ?? "", steps, checks);
  if (of("later step").length === 0) return [now];
  return [now, await run("", of("later step"), of("later check"))];
}

/** Attacks that use the clipboard, which all runs share, or a page that moves, which takes the time of others. */
const isAlone = ({ of }: Attack): boolean =>
  /Copy|press (?:Control|Shift)\+|drag|^(?:moves|animated|shadowed)$/m.test(
    ["page", "step", "check", "later step"].flatMap(of).join("\n"),
  );
/** Attacks that differ only in their checks share their runs. */
const keyOf = ({ of }: Attack) =>
  JSON.stringify(["page", "secrets", "write", "step", "later step", "later check"].map(of));
/** An attack that does not need a separate run. */
const isPlain = (attack: Attack) =>
  !isCall(attack) && keyOf(attack) === keyOf({ attack: "", of: () => [] });
const shared = new Map<string, Promise<Out[][]>>();
function outOf(attack: Attack): Promise<Out[][]> {
  const key = keyOf(attack);
  const together = ATTACKS.filter((one) => !isCall(one) && keyOf(one) === key);
  const checks = together.flatMap(({ of }) => of("check"));
  const both = () =>
    isAlone(attack)
      ? secretsOf(attack).reduce<Promise<Out[][]>>(
          async (all, name) => [...(await all), await attacked(attack, checks, name)],
          Promise.resolve([]),
        )
      : Promise.all(secretsOf(attack).map((name) => attacked(attack, checks, name)));
  const found = shared.get(key) ?? both();
  shared.set(key, found);
  return found;
}

/** An answer as it must be for both secrets: without times and places, with the name of the first. */
function shownOf({ report }: Out, attack: Attack): string {
  const { durationMs, run_id, artifacts = [], assertions, ...rest } = report;
  const [first = "", second = ""] = secretsOf(attack);
  const checks = [...attack.of("check"), ...attack.of("later check")];
  const own = assertions.filter(({ name }) => checks.some((one) => name.startsWith(one)));
  return JSON.stringify([own, rest, artifacts.map(({ name }) => name)], undefined, 1)
    .replaceAll(`secret ${second}]`, `secret ${first}]`)
    .replaceAll(`'${second}'`, `'${first}'`)
    .replaceAll(`secret-${second.toLowerCase()}`, `secret-${first.toLowerCase()}`);
}

/** The parts and forms of a secret that are in a text. */
function leaksIn(text: string, name: string): string[] {
  const value = Object.entries(SECRETS).find(([one]) => one === name)?.[1] ?? "";
  const lower = text.toLowerCase();
  const parts = Array.from({ length: Math.max(1, value.length - 3) }, (_, at) =>
    value.slice(at, at + 4),
  );
  const forms = [0, 1, 2].map((shift) =>
    Buffer.from("-".repeat(shift) + value)
      .toString("base64")
      .slice(shift + 1, -4),
  );
  // The name of a resource in a trace.
  const hash = createHash("sha1")
    .update(JSON.stringify({ token: value }))
    .digest("hex");
  const all =
    value.length < 8 ? parts : [...parts, ...forms, Buffer.from(value).toString("hex"), hash];
  return all.filter((one) => lower.includes(one.toLowerCase()));
}

/** Makes an attack, and compares what came out for its two secrets. */
const tries = async (_name: string, attack: Attack) => {
  const [one = [], other = []] = await outOf(attack);
  const [first, second = ""] = secretsOf(attack);
  const isSameSize = Object.entries(SECRETS)
    .filter(([name]) => name === first || name === second)
    .every(([, { length }], _, [all]) => length === all?.[1].length);
  for (const [index, out] of one.entries()) {
    const twin = other[index];
    expect(shownOf(out, attack)).toBe(twin && shownOf(twin, attack));
    if (!isSameSize) continue;
    const isSame = out.pictures.map((picture, at) => twin?.pictures[at]?.equals(picture));
    expect(isSame).toEqual(out.pictures.map(() => true));
  }
  const [refused] = attack.of("refused");
  if (refused !== undefined) expect(one.at(-1)?.report.failed_step).toContain(refused);
  else expect(one[0]?.report.failed_step).toBeUndefined();
  // The guesses in the sentences are parts of the first secret only.
  expect(leaksIn(other.map(({ text }) => text).join(), second)).toEqual([]);
};

/** What a recording of the model answers to a request. */
const recording = (
  method: string,
  url: string,
  body: string,
  status: number,
  mimeType: string,
  text: string,
) =>
  JSON.stringify({
    log: {
      entries: [
        {
          request: { method, url, postData: { text: body } },
          response: { status, headers: [], content: { text, mimeType } },
        },
      ],
    },
  });

function testCalls(attacks: readonly Attack[]): void {
  /** With the first secret, for which the guesses are right, and with the other. */
  const sides: { readonly talk: Session; readonly runId: string }[] = [];
  beforeAll(async () => {
    const { KEY, ELSE } = SECRETS;
    for (const secret of [KEY, ELSE]) {
      process.env.PW_SECRET_KEY = secret;
      const talk = await session({ args: ["--toolsets", "all", "--allow-evaluate"] });
      const token = JSON.stringify({ token: KEY });
      const files = {
        "guess.har": recording(
          "POST",
          `${web.url}/api?q=${KEY}`,
          token,
          404,
          "text/plain",
          "guessed",
        ),
        "code.har": recording("GET", `${web.url}/`, "", 200, "text/html", PAGES.mirrors),
      };
      for (const [name, text] of Object.entries(files))
        await writeFile(join(talk.folder, "root", name), text);
      const steps = ["fill 'Token' with secret 'KEY'", "wait for network idle"];
      const tested = await talk.good("pw_run_test", {
        url: web.url,
        steps,
        evidence: [...EVIDENCE],
      });
      sides.push({ talk, runId: String(tested.data.run_id) });
    }
  });
  afterAll(() => {
    delete process.env.PW_SECRET_KEY;
  });

  it.each(named(attacks))("%s", async (_name, { of }) => {
    const texts = await Promise.all(
      sides.map(async ({ talk, runId }) => {
        let id = runId;
        let text = "";
        for (const line of of("call")) {
          const [, tool = "", given = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
          const filled = given.replaceAll("RUN", id).replaceAll("URL", web.url);
          const answer = await talk.call(tool, JSON.parse(filled));
          text += `${tool}: ${answer.text}\n`;
          id = String(answer.data.run_id ?? id);
          for (const { uri } of answer.links.filter(
            (one) => !/image|zip/.test(one.mimeType ?? ""),
          )) {
            const { contents } = await talk.connected.client.readResource({ uri });
            text += JSON.stringify(contents);
          }
        }
        return { text, received: JSON.stringify(talk.connected.received) };
      }),
    );
    const [first, other] = texts;
    // The guesses in the calls are parts of the first secret only.
    expect(leaksIn(JSON.stringify([other?.received, other?.text]), "ELSE")).toEqual([]);
    if (of("same").length > 0)
      expect(first && lasting(first.text)).toBe(other && lasting(other.text));
    const [refused] = of("refused");
    if (refused !== undefined) expect(first?.text).toContain(refused);
  });
}

/** A text without what differs in each run: ids, times, folders, sizes. */
const lasting = (text: string): string =>
  untimed(text)
    .replace(/[\w./-]*\d{8}-\d{6}-[0-9a-f]{8}/g, "RUN")
    .replace(/refmcp-playwright-\w+-\w+/g, "FOLDER")
    .replace(/\d+(?:[.,]\d+)*/g, "N");

/**
 * Tests attacks of docs/secret-attacks.md.
 *
 * @param names some of them; those that do not need a separate run are always made.
 */
export function testSecretAttacks(names?: ReadonlySet<string>): void {
  const chosen = ATTACKS.filter(
    (attack) => names === undefined || names.has(attack.attack) || isPlain(attack),
  );
  const runs = chosen.filter((attack) => !isCall(attack));

  beforeAll(open);
  afterAll(() => lab?.close());

  describe("a secret stays in the server if a model tries to", () => {
    it.concurrent.each(named(runs.filter((attack) => !isAlone(attack))))("%s", tries);
    it.each(named(runs.filter(isAlone)))("%s", tries);
  });

  describe("no other tool returns the secret of a run if a model tries to", () =>
    testCalls(chosen.filter(isCall)));

  it("is on the list under each chosen name", () => {
    const known = new Set(ATTACKS.map(({ attack }) => attack));
    expect([...(names ?? [])].filter((name) => !known.has(name))).toEqual([]);
  });
}

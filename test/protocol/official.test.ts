import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  type Answer,
  ask,
  COMPARED,
  compareAnswers,
  type Given,
} from "../../scripts/lib/official.mjs";
import { ROOT, serverBin } from "../servers.ts";

const FOLDER = join(ROOT, "scripts", "generate", "official");
const verdict = z.strictObject({ structured: z.string(), text: z.string() });
const facts = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  date: z.iso.date(),
  source: z.url(),
  tools: z
    .array(z.object({ name: z.string(), answer: z.custom<Answer>().optional(), compared: verdict }))
    .min(1),
});
const factsOf = async (name: string) =>
  facts.parse(JSON.parse(await readFile(join(FOLDER, `${name}.json`), "utf8")));

describe.each(COMPARED)("the %s page's statement about our responses", (name) => {
  it("matches the comparison with the recorded official ones", async () => {
    const { tools } = await factsOf(name);
    const { results } = await ask(name, serverBin(name));
    const measured = tools.map((tool) => {
      const ours = results[tool.name];
      if (tool.answer === undefined || ours === undefined)
        throw new Error(`${tool.name} is not compared`);
      return [tool.name, compareAnswers(tool.answer, ours)];
    });
    expect(measured, "run: node scripts/official.mjs").toEqual(
      tools.map((tool) => [tool.name, tool.compared]),
    );
  });
});

describe("compareAnswers", () => {
  const answer = (structuredContent: object | undefined, ...texts: string[]): Given => ({
    content: texts.map((text) => ({ type: "text", text })),
    ...(structuredContent !== undefined && { structuredContent }),
  });

  it.each<[string, Answer, Given, string, string]>([
    ["equal", answer({ a: 1 }, "x"), answer({ a: 2 }, "x"), "same", "same"],
    [
      "one field more",
      answer({ a: 1 }, "{}"),
      answer({ a: 1, b: 2 }, '{"b":2}'),
      "superset",
      "superset",
    ],
    [
      "one field less",
      answer({ a: 1, b: 2 }, '{"b":2}'),
      answer({ a: 1 }, "{}"),
      "different",
      "different",
    ],
    [
      "another type",
      answer({ a: [1] }, "[1]"),
      answer({ a: { 0: 1 } }, '{"0":1}'),
      "different",
      "different",
    ],
    ["a row less", answer({ a: [1, 2] }, "x"), answer({ a: [1] }, "x"), "different", "same"],
    [
      "a field more in a row",
      answer({ a: [{ b: 1 }] }, "x"),
      answer({ a: [{ b: 1, c: 2 }] }, "x"),
      "superset",
      "same",
    ],
    [
      "its lines and more",
      answer(undefined, "x\ny"),
      answer(undefined, "y\nx\n[2]"),
      "none in either",
      "same lines",
    ],
    [
      "a line less",
      answer(undefined, "x\ny"),
      answer(undefined, "x\n[1]"),
      "none in either",
      "different",
    ],
    [
      "a block more",
      answer(undefined, "x"),
      answer(undefined, "x", "y"),
      "none in either",
      "superset",
    ],
    ["no structured content", answer({ a: 1 }, "x"), answer(undefined, "y"), "none", "different"],
    ["structured content", answer(undefined, "x"), answer({ a: 1 }, "x"), "added", "same"],
    [
      "known first words",
      { opening: "Commit: " },
      answer({}, "Commit: 1"),
      "added",
      "same first words",
    ],
    [
      "other first words",
      { opening: "Commit: " },
      answer(undefined, "A commit"),
      "none in either",
      "different",
    ],
  ])("%s", (_, official, ours, structured, text) => {
    expect(compareAnswers(official, ours)).toEqual({ structured, text });
  });
});

it("the comparison with every other official server states its sources", async () => {
  for (const file of await readdir(FOLDER))
    await expect(factsOf(file.replace(/\.json$/, ""))).resolves.toBeDefined();
});

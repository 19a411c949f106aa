import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type Session, session } from "../../test/session.ts";

let talk: Session;
beforeAll(async () => {
  talk = await session({ hasBrowser: false });
});

const ask = async (name: string, given: Record<string, string>) =>
  (await talk.connected.client.getPrompt({ name, arguments: given })).messages
    .map(({ content }) => (content.type === "text" ? content.text : ""))
    .join("\n");

describe("prompts", () => {
  it("pw_write_test includes the page, the goal and the language", async () => {
    const text = await ask("pw_write_test", { url: "http://localhost:3000/", goal: "signing in" });
    expect(text).toContain("Write a test for http://localhost:3000/: signing in.");
    expect(text).toContain("no console errors");
    for (const tool of ["pw_inspect_page", "pw_run_test", "pw_export_spec"])
      expect(text).toContain(tool);
  });
});

const skills = readdirSync(new URL("../../skills", import.meta.url));
const read = (skill: string) =>
  readFileSync(new URL(`../../skills/${skill}/SKILL.md`, import.meta.url), "utf8");

describe("skills", () => {
  it.each(skills)("%s refers to existing tools and prompts", async (skill) => {
    const { tools } = await talk.connected.client.listTools();
    const { prompts } = await talk.connected.client.listPrompts();
    const known = [...tools, ...prompts].map(({ name }) => name);
    const named = read(skill).match(/pw_\w+/g) ?? [];
    expect(named).not.toEqual([]);
    for (const name of named) expect(known).toContain(name);
  });
});

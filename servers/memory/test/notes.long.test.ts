import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeBoundByPermissions } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { startServer } from "./process.ts";
import { readmes } from "./readmes.ts";
import { session } from "./session.ts";

/** A session whose notes are in `notes` of its folder. */
async function withNotes(
  files: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
) {
  let folder = "";
  const put = async (content: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(content)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  };
  const opened = await session({
    async prepare(own) {
      folder = join(own, "notes");
      await put(files);
      return ["--notes", folder, ...more];
    },
  });
  return {
    ...opened,
    notes: folder,
    put,
    text: (path: string) => readFile(join(folder, path), "utf8"),
    list: async () => (await readdir(folder)).filter((name) => !name.startsWith(".")).sort(),
    async open(name: string) {
      const { entities, relations } = await opened.data("open_nodes", { names: [name] });
      return { entity: (entities as { observations: string[] }[])[0], relations };
    },
  };
}

const person = (name: string, ...observations: string[]) => ({
  name,
  entityType: "person",
  observations,
});

describe("notes", () => {
  it("writes a note for each entity and follows every change of the memory", async () => {
    const { data, text, list } = await withNotes();
    await data("create_entities", {
      entities: [person("Ada", "likes tea"), person("a/b?", "[mood] good")],
    });
    await data("create_relations", {
      relations: [{ from: "Ada", to: "a/b?", relationType: "works with" }],
    });
    expect(await list()).toEqual(["Ada.md", "a-b-.md"]);
    expect(await text("Ada.md")).toBe(
      '---\ntitle: Ada\ntype: person\npermalink: ada\n---\n\n# Ada\n\n## Observations\n- [fact] likes tea\n\n## Relations\n- "works with" [[a/b?]]\n',
    );
    await data("update_entities", { updates: [{ name: "a/b?", new_name: "Bo", new_type: "cat" }] });
    expect(await text("a-b-.md")).toContain("title: Bo\ntype: cat\n");
    expect(await text("Ada.md")).toContain('- "works with" [[Bo]]\n');
    await data("add_observations", {
      observations: [{ entityName: "Ada", contents: ["one\ntwo"] }],
    });
    await data("delete_observations", {
      deletions: [{ entityName: "Ada", observations: ["likes tea"] }],
    });
    expect(await text("Ada.md")).toContain("## Observations\n- [fact] one<br>two\n\n## Relations");
    const { change_id } = await data("delete_entities", { entityNames: ["Ada", "Bo"] });
    expect(await list()).toEqual([]);
    expect(await text(".trash/Ada.md")).toContain("one<br>two");
    await data("undo_memory_change", { change_id });
    expect(await list()).toEqual(["Ada.md", "a-b-.md"]);
    expect(await text("Ada.md")).toContain('- "works with" [[Bo]]\n');
  });

  it("replaces the line of a superseded fact, and undoes it", async () => {
    const { data, text } = await withNotes();
    await data("create_entities", { entities: [person("Ada", "lives in Vienna", "likes tea")] });
    const { change_id } = await data("add_observations", {
      observations: [
        { entityName: "Ada", contents: ["lives in Graz"], replaces: ["lives in Vienna"] },
      ],
    });
    expect(await text("Ada.md")).toContain(
      "## Observations\n- [fact] likes tea\n- [fact] lives in Graz\n",
    );
    await data("undo_memory_change", { change_id });
    expect(await text("Ada.md")).toContain(
      "## Observations\n- [fact] likes tea\n- [fact] lives in Vienna\n",
    );
  });

  it("shows at the next call what a person edits, adds, renames and deletes", async () => {
    const { data, text, put, open, notes, list } = await withNotes({
      "Ada.md": "Some text.\n\n- [drink] tea\n- knows [[sub/Bo]]\n",
      "sub/Bo.md": "---\ntitle: Bo\ntype: person\nmine: 1\n---\n",
      "Cy.md": "- [a1] x\n",
    });
    expect(await open("Ada")).toMatchObject({
      entity: { entityType: "note", observations: ["[drink] tea"] },
      relations: [{ from: "Ada", to: "Bo", relationType: "knows" }],
    });
    await put({ "Ada.md": "Some text.\n\n- [drink] coffee\n", "Dee.md": "- [new] here\n" });
    expect(await open("Ada")).toMatchObject({
      entity: { observations: ["[drink] coffee"] },
      relations: [],
    });
    expect((await open("Dee")).entity?.observations).toEqual(["[new] here"]);
    await put({ "sub/Bo.md": "---\ntitle: Bob\ntype: cat\nmine: 1\n---\n" });
    expect((await open("Bob")).entity).toMatchObject({ entityType: "cat" });
    await rename(join(notes, "Dee.md"), join(notes, "Deedee.md"));
    await rename(join(notes, "sub/Bo.md"), join(notes, "Bo.md"));
    expect((await open("Deedee")).entity?.observations).toEqual(["[new] here"]);
    expect((await open("Bob")).entity).toMatchObject({ entityType: "cat" });
    await rm(join(notes, "Cy.md"));
    expect(await data("search_nodes", { query: "Cy" })).toMatchObject({ total: 0 });
    const { changes } = await data("recent_changes");
    const [{ change_id, action }] = changes as [{ change_id: number; action: string }];
    expect(action).toBe("edit_notes");
    await data("undo_memory_change", { change_id });
    expect(await list()).toEqual(["Ada.md", "Bo.md", "Cy.md", "Deedee.md", "sub"]);
    expect(await text("Bo.md")).toBe("---\ntitle: Bob\ntype: cat\nmine: 1\n---\n");
  });

  it("waits for the content of a note that was just emptied", async () => {
    const { open, put, notes } = await withNotes({ "Ada.md": "- [a1] x\n" });
    await open("Ada");
    await put({ "Ada.md": "" });
    expect((await open("Ada")).entity?.observations).toEqual(["[a1] x"]);
    await put({ "Ada.md": "- [a1] y\n" });
    expect((await open("Ada")).entity?.observations).toEqual(["[a1] y"]);
    await put({ "Ada.md": "" });
    await utimes(join(notes, "Ada.md"), 1_000_000_000, 1_000_000_000);
    expect((await open("Ada")).entity?.observations).toEqual([]);
  });

  it("renames the entity with a file that was named after it", async () => {
    const { data, text, open, notes } = await withNotes();
    await data("create_entities", { entities: [person("Ada", "x"), person("Bo")] });
    await data("create_relations", {
      relations: [{ from: "Bo", to: "Ada", relationType: "knows" }],
    });
    await rename(join(notes, "Ada.md"), join(notes, "Ada Lovelace.md"));
    expect((await open("Ada Lovelace")).entity?.observations).toEqual(["x"]);
    expect(await text("Ada Lovelace.md")).toContain("title: Ada Lovelace\n");
    expect(await text("Bo.md")).toContain("- knows [[Ada Lovelace]]\n");
  });

  it("merges an edit of a person with a change by a tool in the same moment", async () => {
    const { data, text, put, open } = await withNotes({
      "Ada.md": "# Ada\n\n- [fact] one\n- [fact] two\n\nA letter.\n",
    });
    await open("Ada");
    await put({ "Ada.md": "# Ada\n\n- [fact] two\n- [fact] three\n\nA longer letter.\n" });
    await data("add_observations", { observations: [{ entityName: "Ada", contents: ["four"] }] });
    expect(await text("Ada.md")).toBe(
      "# Ada\n\n- [fact] two\n- [fact] three\n- [fact] four\n\nA longer letter.\n",
    );
    expect((await open("Ada")).entity?.observations).toEqual(["two", "three", "four"]);
  });

  it("keeps foreign texts byte for byte", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const odd =
      "\ufeff---\r\n# my title\r\ntitle:   'Odd'\r\n---\r\n\r\n* [a1] b \r\n\t- [c2] d\r\nno newline";
    const foreign = Object.fromEntries(
      readmes(100).map((one, index) => [`packages/${index}.md`, one]),
    );
    const { data, text, open } = await withNotes({
      ...foreign,
      "README.md": readme,
      "docs/README.md": readme,
      "odd.md": odd,
    });
    expect(await data("memory_stats")).toMatchObject({ total: { entities: expect.any(Number) } });
    expect(await text("README.md")).toBe(readme);
    expect(await text("docs/README.md")).toBe(readme);
    expect(await text("odd.md")).toBe(odd);
    expect((await open("99")).entity).toBeDefined();
    await data("add_observations", { observations: [{ entityName: "Odd", contents: ["e"] }] });
    await data("delete_observations", { deletions: [{ entityName: "Odd", observations: ["e"] }] });
    expect(await text("odd.md")).toBe(odd);
    await data("add_observations", {
      observations: [{ entityName: "docs/README", contents: ["mine"] }],
    });
    expect((await text("docs/README.md")).startsWith(readme)).toBe(true);
    expect(await text("README.md")).toBe(readme);
    for (const [path, one] of Object.entries(foreign)) expect(await text(path)).toBe(one);
  });

  it("does not take a directory that disappeared for deletions", async () => {
    const { data, notes, open, list } = await withNotes();
    await data("create_entities", {
      entities: [person("Ada", "x"), person("Bo", "y"), person("Cy")],
    });
    await rename(notes, `${notes}-away`);
    const gone = await data("open_nodes", { names: ["Ada"] });
    expect(gone).toMatchObject({ entities: [{ observations: ["x"] }] });
    expect(gone.notice).toMatch(/3 of 3 notes in .* are missing.*Nothing was deleted/);
    // Reported once. Nothing is written to an empty directory in its place.
    await mkdir(notes);
    expect(
      await data("add_observations", { observations: [{ entityName: "Ada", contents: ["z"] }] }),
    ).not.toHaveProperty("notice");
    expect(await list()).toEqual([]);
    await rm(notes, { recursive: true });
    await rename(`${notes}-away`, notes);
    expect((await open("Ada")).entity?.observations).toEqual(["x", "z"]);
    expect(await readFile(join(notes, "Ada.md"), "utf8")).toContain("- [fact] z\n");
    // Moved is not missing.
    await mkdir(join(notes, "people"));
    for (const name of await list())
      if (name.endsWith(".md")) await rename(join(notes, name), join(notes, "people", name));
    expect(await data("memory_stats")).not.toHaveProperty("notice");
    await data("add_observations", { observations: [{ entityName: "Cy", contents: ["here"] }] });
    expect(await readFile(join(notes, "people", "Cy.md"), "utf8")).toContain("- [fact] here\n");
    // One note is a deletion, and a new one in the same moment another entity.
    await rm(join(notes, "people", "Bo.md"));
    await writeFile(join(notes, "Dee.md"), "- [new] fact\n");
    expect(await data("search_nodes", { query: "Bo" })).toMatchObject({ total: 0 });
    expect(await open("Dee")).toMatchObject({ entity: { observations: ["[new] fact"] } });
  });

  it("erases a note with its entity, and its lines with their facts", async () => {
    const { data, text, list, notes } = await withNotes({}, ["--confirm", "never"]);
    await data("create_entities", {
      entities: [person("Ada", "PIN 4711", "likes tea"), person("Bo", "PIN 4712", "x")],
    });
    await data("delete_observations", {
      deletions: [{ entityName: "Ada", observations: ["PIN 4711"] }],
      hard: true,
    });
    expect(await text("Ada.md")).not.toContain("4711");
    await data("delete_entities", { entityNames: ["Bo"] });
    await data("delete_observations", {
      deletions: [{ entityName: "Bo", observations: ["PIN 4712"] }],
      hard: true,
    });
    const trashed = await text(".trash/Bo.md");
    expect(trashed).toContain("- [fact] x\n");
    expect(trashed).not.toContain("4712");
    await data("delete_entities", { entityNames: ["Ada", "Bo"], hard: true });
    expect(await list()).toEqual([]);
    expect(await readdir(join(notes, ".trash"))).toEqual([]);
  });

  it("reports a note that it cannot read, once, and leaves it", async () => {
    const { data, put, notes, text } = await withNotes({ "Ada.md": "- [a1] x\n" });
    await writeFile(join(notes, "latin.md"), Buffer.from([0x2d, 0xe9]));
    await put({ "large.md": "x".repeat(2 ** 20 + 1) });
    const { notice } = await data("memory_stats");
    expect(notice).toContain("The note latin.md is not UTF-8");
    expect(notice).toContain("The note large.md is larger than 1 MiB");
    expect(await data("memory_stats")).not.toHaveProperty("notice");
    await data("create_entities", { entities: [person("latin", "y")] });
    expect(await text("latin 2.md")).toContain("- [fact] y");
    expect(await readFile(join(notes, "latin.md"))).toEqual(Buffer.from([0x2d, 0xe9]));
  });

  it("saves a change whose note cannot be written, reports it, and writes the note later", async () => {
    const { data, folder, text, notes } = await withNotes();
    await data("create_entities", { entities: [person("Ada", "x")] });
    await chmod(join(notes, "Ada.md"), 0o444);
    const args = ["--file", join(folder, "memory.db"), "--notes", notes];
    const server = await startServer(args, { command: nodeBoundByPermissions() });
    const add = { observations: [{ entityName: "Ada", contents: ["y"] }] };
    const added = await server.call("add_observations", add);
    expect(added.isError).toBe(false);
    expect(JSON.parse(added.text).notice).toContain(
      "The memory has the change, but its note is not updated",
    );
    expect(await text("Ada.md")).not.toContain("- [fact] y");
    await chmod(join(notes, "Ada.md"), 0o644);
    await server.call("memory_stats", {});
    await server.stop();
    expect(await text("Ada.md")).toContain("- [fact] x\n- [fact] y\n");
  });

  it("writes what a killed process no longer wrote", async () => {
    const { folder, notes, data, text, put } = await withNotes();
    await data("create_entities", { entities: [person("Ada", "x")] });
    // A process without notes commits, like one that ends right after its commit.
    const other = await startServer(["--file", join(folder, "memory.db")]);
    await other.call("add_observations", {
      observations: [{ entityName: "Ada", contents: ["y"] }],
    });
    await other.call("create_entities", { entities: [person("Bo", "z")] });
    other.child.kill("SIGKILL");
    await put({ "Ada.md": `${await text("Ada.md")}- [fact] by hand\n` });
    const server = await startServer(["--file", join(folder, "memory.db"), "--notes", notes]);
    const opened = await server.call("open_nodes", { names: ["Ada"] });
    await server.stop();
    expect(JSON.parse(opened.text).entities[0].observations).toEqual(["x", "y", "by hand"]);
    const ada = await text("Ada.md");
    for (const line of ["- [fact] x\n", "- [fact] y\n", "- [fact] by hand\n"])
      expect(ada).toContain(line);
    expect(await text("Bo.md")).toContain("- [fact] z\n");
  });

  it("loses no acknowledged fact and no edit when it is killed again and again", async () => {
    const { folder, notes, text } = await withNotes({ "Ada.md": "# Ada\n" });
    const args = ["--file", join(folder, "memory.db"), "--notes", notes];
    const acknowledged: string[] = [];
    for (let round = 0; round < 6; round++) {
      const server = await startServer(args);
      await writeFile(join(notes, "Ada.md"), `${await text("Ada.md")}- [hand] ${round}\n`);
      for (let index = 0; index <= round; index++) {
        const fact = `fact ${round}.${index}`;
        const calling = server.call("add_observations", {
          observations: [{ entityName: "Ada", contents: [fact] }],
        });
        if (index === round) server.child.kill("SIGKILL");
        await calling.then(
          ({ isError }) => isError || acknowledged.push(fact),
          () => undefined,
        );
      }
    }
    const server = await startServer(args);
    const { entities } = JSON.parse((await server.call("open_nodes", { names: ["Ada"] })).text);
    await server.stop();
    const note = await text("Ada.md");
    for (const fact of acknowledged) {
      expect(entities[0].observations).toContain(fact);
      expect(note.split(`- [fact] ${fact}\n`)).toHaveLength(2);
    }
    for (let round = 0; round < 6; round++) expect(note).toContain(`- [hand] ${round}\n`);
    expect((await readdir(notes)).filter((name) => name.endsWith(".md"))).toEqual(["Ada.md"]);
  });

  it("keeps all facts and one note when two servers and a person write at once", async () => {
    const { folder, notes, text, put } = await withNotes({ "Ada.md": "# Ada\n" });
    const args = ["--file", join(folder, "memory.db"), "--notes", notes];
    const servers = await Promise.all([startServer(args), startServer(args)]);
    const calls = servers.flatMap((server, which) =>
      Array.from({ length: 15 }, (_, index) =>
        server.call("add_observations", {
          observations: [{ entityName: "Ada", contents: [`fact ${which}.${index}`] }],
        }),
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ isError }) => isError)).toEqual([]);
    await put({ "Ada.md": `${await text("Ada.md")}- [hand] last\n` });
    // Each server reads and writes the notes of both with its next call.
    for (const server of servers) await server.call("memory_stats", {});
    const opened = await servers[0]?.call("open_nodes", { names: ["Ada"] });
    for (const server of servers) await server.stop();
    const wanted = Array.from({ length: 30 }, (_, index) => `fact ${index % 2}.${index >> 1}`);
    expect(JSON.parse(opened?.text ?? "").entities[0].observations.sort()).toEqual(
      [...wanted, "[hand] last"].sort(),
    );
    const lines = (await text("Ada.md")).split("\n").filter((line) => line.startsWith("- "));
    expect(lines.sort()).toEqual(
      [...wanted.map((fact) => `- [fact] ${fact}`), "- [hand] last"].sort(),
    );
    expect((await readdir(notes)).filter((name) => name.endsWith(".md"))).toEqual(["Ada.md"]);
  });

  it("writes no note outside its directory, whatever the name", async () => {
    const { data, list, notes } = await withNotes();
    await data("create_entities", {
      entities: ["../../evil", "/etc/x", "C:\\x", "..", ".hidden", "a\0b"].map((name) =>
        person(name, "x"),
      ),
    });
    const files = await list();
    expect(files.every((name) => /^[^/\\]+\.md$/u.test(name))).toBe(true);
    expect((await data("memory_stats")).total).toMatchObject({ entities: 6 });
    for (const name of files) expect((await stat(join(notes, name))).isFile()).toBe(true);
    expect(files).toHaveLength(6);
  });

  // On Windows, links to files need a privilege.
  it.skipIf(process.platform === "win32")(
    "neither reads nor writes through links that lead out of its directory",
    async () => {
      const { folder, notes, data, list } = await withNotes({ "Ada.md": "- [a1] x\n" });
      const outside = join(folder, "outside");
      await mkdir(outside);
      await writeFile(join(outside, "secret.md"), "- [secret] 4711\n");
      await symlink(join(outside, "secret.md"), join(notes, "secret.md"));
      await symlink(outside, join(notes, "more"), "junction");
      expect(await data("search_nodes", { query: "4711" })).toMatchObject({ total: 0 });
      await data("create_entities", { entities: [person("secret", "mine")] });
      expect(await readFile(join(outside, "secret.md"), "utf8")).toBe("- [secret] 4711\n");
      expect(await list()).toEqual(["Ada.md", "more", "secret 2.md", "secret.md"]);
      // A note that is replaced by a link is missing, and nothing is written through it.
      await rm(join(notes, "Ada.md"));
      await symlink(join(outside, "secret.md"), join(notes, "Ada.md"));
      expect(await data("search_nodes", { query: "Ada" })).toMatchObject({ total: 0 });
      expect(await readFile(join(outside, "secret.md"), "utf8")).toBe("- [secret] 4711\n");
    },
  );

  it("refuses a store or a space, which notes do not belong to", async () => {
    const server = await startServer([
      "--notes",
      join(tmpdir(), "refmcp-no-notes"),
      "--space",
      "work",
    ]);
    const { text, isError } = await server.call("memory_stats", {});
    await server.stop();
    expect(isError).toBe(true);
    expect(text).toContain("--notes cannot be used with --space");
  });
});

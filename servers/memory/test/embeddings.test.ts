import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeBoundByPermissions } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteObservations } from "../src/graph/change/remove.ts";
import { loadModel } from "../src/graph/search/embedding-model.ts";
import { searchNodes } from "../src/graph/search/search.ts";
import { nearestFacts } from "../src/graph/search/vectors.ts";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import { startServer } from "./process.ts";
import { budget, create, entity, erase } from "./stores/help.ts";

/** A model of twelve words whose vectors are topics: teeth, water, nothing. */
const WORDS: Readonly<Record<string, readonly [number, number, number]>> = {
  "[UNK]": [0, 0, 0],
  drilled: [1, 0, 0],
  molar: [0.9, 0.1, 0],
  caries: [0.95, 0, 0.05],
  harbour: [0, 1, 0],
  waves: [0.1, 0.9, 0],
  tide: [0, 0.95, 0.05],
  invoice: [0, 0, 1],
};

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-model-"));
  const header = Buffer.from(
    JSON.stringify({
      embeddings: {
        dtype: "F32",
        shape: [Object.keys(WORDS).length, 3],
        data_offsets: [0, Object.keys(WORDS).length * 12],
      },
    }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const data = Buffer.from(Float32Array.from(Object.values(WORDS).flat()).buffer);
  await writeFile(join(folder, "model.safetensors"), Buffer.concat([length, header, data]));
  await writeFile(
    join(folder, "tokenizer.json"),
    JSON.stringify({
      version: "1.0",
      added_tokens: [],
      normalizer: { type: "Lowercase" },
      pre_tokenizer: { type: "Whitespace" },
      post_processor: null,
      decoder: null,
      model: {
        type: "WordLevel",
        vocab: Object.fromEntries(Object.keys(WORDS).map((word, id) => [word, id])),
        unk_token: "[UNK]",
      },
    }),
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const facts = [
  entity("Monday", "day", ["the molar was filled"]),
  entity("Tuesday", "day", ["high tide at noon"]),
  entity("Wednesday", "day", ["paid the invoice"]),
];

describe("searching by meaning", () => {
  it("finds facts that share no word with the query, as well as those that do", async () => {
    const store = await openSqliteStore(join(folder, "memory.db"));
    await create(store, [...facts, entity("Thursday", "day", ["caries everywhere"])]);
    const search = async (query: string, types?: string[]) =>
      (await searchNodes(store, { query, types, limit: 10, cursor: undefined, budget })).entities.map(
        ({ name }) => name,
      );
    expect(await search("drilled")).toEqual([]);
    store.model = await loadModel(folder);
    expect(await search("drilled")).toEqual(["Thursday", "Monday"]);
    expect(await search("drilled", ["place"])).toEqual([]);
    expect((await search("caries"))[0]).toBe("Thursday");
    expect(await search("waves harbour")).toEqual(["Tuesday"]);
    // What is added, deleted and erased later counts.
    await create(store, [entity("Friday", "day", ["drilled again"])]);
    expect(await search("molar")).toContain("Friday");
    await erase((hard) =>
      deleteObservations(store, [{ entityName: "Monday", observations: ["the molar was filled"] }], hard),
    );
    expect(await search("drilled")).not.toContain("Monday");
    const left = await store.read((reader) => reader.vectors(0, 10));
    expect(left).toHaveLength(4);
    await store.close();
  });

  it("ranks more matching words first, even if another fact is closer in meaning", async () => {
    const store = await openSqliteStore(join(folder, "memory.db"));
    await create(store, [entity("A", "day", ["caries"]), entity("B", "day", ["invoice for caries"])]);
    const model = await loadModel(folder);
    store.model = model;
    const query = "drilled molar caries invoice";
    const found = await searchNodes(store, { query, limit: 10, cursor: undefined, budget });
    expect(found.entities.map(({ name }) => name)).toEqual(["B", "A"]);
    const nearest = await store.read((reader) => nearestFacts(reader, model, query));
    expect([...nearest.keys()]).toEqual([1, 2]);
    await store.close();
  });

  it("computes new vectors for another model", async () => {
    const store = await openSqliteStore(join(folder, "memory.db"));
    await create(store, facts);
    const query = { query: "drilled", limit: 10, cursor: undefined, budget };
    store.model = await loadModel(folder);
    await searchNodes(store, query);
    const first = await store.read((reader) => reader.vectors(0, 10));
    const weights = await readFile(join(folder, "model.safetensors"));
    await writeFile(
      join(folder, "model.safetensors"),
      weights.fill(0, weights.length - 12, weights.length - 8),
    );
    const tokenizer = await readFile(join(folder, "tokenizer.json"), "utf8");
    await writeFile(join(folder, "tokenizer.json"), tokenizer.replace('"molar":2', '"molar":5'));
    store.model = await loadModel(folder);
    expect((await searchNodes(store, query)).entities).toEqual([]);
    const second = await store.read((reader) => reader.vectors(0, 10));
    expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    expect(second[0]?.vector).not.toEqual(first[0]?.vector);
    await store.close();
  });

  it("works in the built server, and costs nothing without the option", async () => {
    const file = join(folder, "memory.db");
    const plain = await startServer(["--file", file]);
    await plain.call("create_entities", { entities: facts });
    expect(JSON.parse((await plain.call("search_nodes", { query: "drilled" })).text).total).toBe(0);
    await plain.stop();
    expect((await readFile(file)).includes("CREATE TABLE vectors")).toBe(false);
    const server = await startServer(["--file", file, "--embeddings", folder]);
    expect(JSON.parse((await server.call("search_nodes", { query: "drilled" })).text)).toMatchObject({
      entities: [{ name: "Monday" }],
    });
    await server.stop();
  });

  it("searches by words only if the memory is read-only", async () => {
    const file = join(folder, "memory.db");
    const plain = await startServer(["--file", file]);
    await plain.call("create_entities", { entities: facts });
    await plain.stop();
    await chmod(file, 0o444);
    const server = await startServer(["--file", file, "--embeddings", folder, "--history-days", "1"], {
      command: nodeBoundByPermissions(),
    });
    expect(JSON.parse((await server.call("search_nodes", { query: "molar" })).text).total).toBe(1);
    await server.stop();
  });

  it("reports what is missing: the package, a file, complete weights", async () => {
    const missing = () => Promise.reject(new Error("Cannot find package"));
    await expect(loadModel(folder, missing)).rejects.toMatchObject({
      kind: "unavailable",
      hint: expect.stringContaining("npm install @huggingface/tokenizers"),
    });
    const weights = await readFile(join(folder, "model.safetensors"));
    await writeFile(join(folder, "model.safetensors"), weights.subarray(0, weights.length - 1));
    await expect(loadModel(folder)).rejects.toMatchObject({ kind: "invalid" });
    await rm(join(folder, "tokenizer.json"));
    await expect(loadModel(folder)).rejects.toMatchObject({ kind: "not_found" });
  });
});

import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
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

type Dtype = "F64" | "F32" | "F16" | "I8" | "I32";
interface Tensor {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

const BYTES: Readonly<Record<Dtype, (values: readonly number[]) => ArrayBufferView>> = {
  F64: (values) => Float64Array.from(values),
  F32: (values) => Float32Array.from(values),
  // Halves of the few numbers that are exact: 0 and powers of two.
  F16: (values) => Uint16Array.from(values, (one) => (one === 0 ? 0 : (Math.log2(one) + 15) << 10)),
  I8: (values) => Int8Array.from(values),
  I32: (values) => Int32Array.from(values),
};

/** Writes a safetensors file. */
async function writeTensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
): Promise<void> {
  const parts: Buffer[] = [];
  const header: Record<string, object> = { __metadata__: { format: "pt" } };
  let at = 0;
  for (const [name, { dtype, shape, values }] of Object.entries(tensors)) {
    const { buffer, byteOffset, byteLength } = BYTES[dtype](values);
    parts.push(Buffer.from(buffer, byteOffset, byteLength));
    header[name] = { dtype, shape, data_offsets: [at, at + byteLength] };
    at += byteLength;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  await writeFile(path, Buffer.concat([length, text, ...parts]));
}

const matrix = (dtype: Dtype, values: readonly number[]): Tensor => ({
  dtype,
  shape: [values.length / 3, 3],
  values,
});

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-model-"));
  await writeTensors(join(folder, "model.safetensors"), {
    embeddings: matrix("F32", Object.values(WORDS).flat()),
  });
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
      (
        await searchNodes(store, { query, types, limit: 10, cursor: undefined, budget })
      ).entities.map(({ name }) => name);
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
      deleteObservations(
        store,
        [{ entityName: "Monday", observations: ["the molar was filled"] }],
        hard,
      ),
    );
    expect(await search("drilled")).not.toContain("Monday");
    const left = await store.read((reader) => reader.vectors(0, 10));
    expect(left).toHaveLength(4);
    await store.close();
  });

  it("ranks more matching words first, even if another fact is closer in meaning", async () => {
    const store = await openSqliteStore(join(folder, "memory.db"));
    await create(store, [
      entity("A", "day", ["caries"]),
      entity("B", "day", ["invoice for caries"]),
    ]);
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
    expect(
      JSON.parse((await server.call("search_nodes", { query: "drilled" })).text),
    ).toMatchObject({
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
    const server = await startServer(
      ["--file", file, "--embeddings", folder, "--history-days", "1"],
      {
        command: nodeBoundByPermissions(),
      },
    );
    expect(JSON.parse((await server.call("search_nodes", { query: "molar" })).text).total).toBe(1);
    await server.stop();
  });

  describe("layouts of models", () => {
    /** Rows of eight tokens in powers of two, which all types of numbers have exactly. */
    const rows = [0, 0, 0, 4, 0, 0, 2, 2, 0, 4, 0, 1, 0, 4, 0, 1, 4, 0, 0, 4, 2, 0, 0, 4];
    const file = () => join(folder, "model.safetensors");
    const directions = async (directory = folder) => {
      const model = await loadModel(directory);
      return Object.keys(WORDS).map((word) => [...(model.embed(word) ?? [])]);
    };
    let expected: number[][] = [];
    beforeEach(async () => {
      await writeTensors(file(), { embeddings: matrix("F32", rows) });
      expected = await directions();
      expect(expected.slice(1, 3)).toEqual([
        [127, 0, 0],
        [127, 127, 0],
      ]);
    });

    it("reads halves, bytes and the names of sentence-transformers", async () => {
      for (const tensors of [
        { embeddings: matrix("F16", rows) },
        { embeddings: matrix("I8", rows) },
        { "embedding.weight": matrix("F32", rows) },
      ]) {
        await writeTensors(file(), tensors);
        expect(await directions(), Object.keys(tensors)[0]).toEqual(expected);
      }
      const nested = join(folder, "model", "0_StaticEmbedding");
      await mkdir(nested, { recursive: true });
      for (const name of ["model.safetensors", "tokenizer.json"])
        await copyFile(join(folder, name), join(nested, name));
      expect(await directions(join(folder, "model"))).toEqual(expected);
    });

    it("reads rows that tokens share, and what each token counts", async () => {
      const mapping = { dtype: "I32", shape: [8], values: [0, 1, 1, 1, 2, 2, 2, 3] } as const;
      const weights = { dtype: "F64", shape: [8], values: [1, 1, 3, 1, 1, 1, 1, 1] } as const;
      const embeddings = matrix("F32", [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
      await writeTensors(file(), { weights, embeddings, mapping });
      const model = await loadModel(folder);
      expect(model.embed("caries")).toEqual(model.embed("drilled"));
      // Three times a molar and once the harbour.
      expect([...(model.embed("molar harbour") ?? [])]).toEqual([127, 42, 0]);
      await writeTensors(file(), {
        embeddings,
        mapping: { ...mapping, values: [0, 1, 1, 1, 2, 2, 2, 4] },
      });
      await expect(loadModel(folder)).rejects.toMatchObject({ message: `${file()} is damaged.` });
    });

    it("refuses other models and a tokenizer of another one, with the reason", async () => {
      await writeTensors(file(), { "encoder.layer.0": matrix("F32", rows) });
      await expect(loadModel(folder)).rejects.toMatchObject({
        message: `${file()} is not a static embedding model: it has the tensors encoder.layer.0.`,
      });
      await writeTensors(file(), { embeddings: matrix("I32", rows) });
      await expect(loadModel(folder)).rejects.toMatchObject({
        message: expect.stringContaining(
          "embeddings with 2 dimensions of type I32 is not supported",
        ),
      });
      await writeTensors(file(), { embeddings: matrix("F32", rows.slice(0, 21)) });
      await expect(loadModel(folder)).rejects.toMatchObject({
        message: `The tokenizer in ${folder} has 8 tokens, but ${file()} has vectors for 7.`,
      });
    });
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

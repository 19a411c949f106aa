import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";

/** Turns texts into vectors of one length, close to each other if the texts have the same meaning. */
export interface Model {
  /** SHA-256 of its files: vectors of different models are never compared. */
  readonly hash: string;
  /** The direction of a text's meaning, each number from -127 to 127; undefined for a text without known tokens. */
  embed(text: string): Int8Array | undefined;
}

const PACKAGE = "@huggingface/tokenizers";
const FILES = { weights: "model.safetensors", tokenizer: "tokenizer.json" } as const;
/** Maximum size of the weights, in bytes. */
const MAX_WEIGHTS = 2 ** 30;

const tensor = z.object({
  dtype: z.enum(["F32", "F16"]),
  shape: z.tuple([z.int().min(1), z.int().min(1)]),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});
const header = z.object({ embeddings: tensor });

type Tokenizers = typeof import("@huggingface/tokenizers");

/**
 * Loads a static embedding model (Model2Vec: one vector for each token, a text is their mean) from a directory with
 * `model.safetensors` and `tokenizer.json`. Nothing is downloaded.
 *
 * @throws ToolError `unavailable` without the optional package, `not_found` or `invalid` for the files.
 */
export async function loadModel(
  directory: string,
  load: () => Promise<Tokenizers> = () => import("@huggingface/tokenizers"),
): Promise<Model> {
  const { Tokenizer } = await load().catch((cause: unknown) => {
    throw new ToolError("unavailable", `--embeddings needs the package ${PACKAGE}, which is not installed.`, {
      hint: `Run npm install ${PACKAGE} next to this server, or start the server without --embeddings.`,
      cause,
    });
  });
  const [weights, tokens] = await Promise.all([
    read(directory, FILES.weights),
    read(directory, FILES.tokenizer),
  ]);
  const { values, dimensions } = matrixOf(weights, join(directory, FILES.weights));
  const tokenizer = new Tokenizer(jsonOf(tokens, join(directory, FILES.tokenizer)), {});
  const unknown = tokenizer.encode("\u{10fffd}", { add_special_tokens: false }).ids;
  return {
    hash: createHash("sha256").update(weights).update(tokens).digest("hex"),
    embed(text) {
      const { ids } = tokenizer.encode(text, { add_special_tokens: false });
      const sum = new Float32Array(dimensions);
      for (const id of ids.filter((one: number) => !unknown.includes(one)))
        for (let at = 0; at < dimensions; at++)
          sum[at] = (sum[at] ?? 0) + (values[id * dimensions + at] ?? 0);
      const largest = sum.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      return largest === 0 ? undefined : Int8Array.from(sum, (value) => Math.round((value / largest) * 127));
    },
  };
}

async function read(directory: string, name: string): Promise<Buffer> {
  const path = join(directory, name);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new ToolError("not_found", `The embedding model file ${path} cannot be read.`, {
      hint: `--embeddings takes a directory with ${Object.values(FILES).join(" and ")}, for example a copy of a Model2Vec model.`,
      cause,
    });
  });
  if (bytes.length <= MAX_WEIGHTS) return bytes;
  throw new ToolError("too_large", `${path} is larger than 1 GiB.`, { hint: "Choose a smaller model." });
}

function jsonOf(bytes: Buffer, path: string): object {
  try {
    return z.looseObject({}).parse(JSON.parse(bytes.toString("utf8")));
  } catch (cause) {
    throw damaged(path, cause);
  }
}

/** The matrix `embeddings` of a safetensors file: an 8-byte length, a JSON header, then the numbers, little-endian. */
function matrixOf(bytes: Buffer, path: string): { values: Float32Array; dimensions: number } {
  const start = bytes.length < 8 ? 0 : 8 + Number(bytes.readBigUInt64LE(0));
  const parsed =
    start <= 8 || start > bytes.length ? undefined : header.safeParse(jsonOf(bytes.subarray(8, start), path));
  if (parsed?.success !== true) throw damaged(path, parsed?.error);
  const { dtype, shape, data_offsets } = parsed.data.embeddings;
  const [tokens, dimensions] = shape;
  const data = bytes.subarray(start + data_offsets[0], start + data_offsets[1]);
  const width = dtype === "F32" ? 4 : 2;
  if (data.length !== tokens * dimensions * width) throw damaged(path);
  const values = Float32Array.from({ length: tokens * dimensions }, (_, index) =>
    dtype === "F32" ? data.readFloatLE(index * width) : halfOf(data.readUInt16LE(index * width)),
  );
  return { values, dimensions };
}

/** An IEEE 754 half-precision number. */
function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? 0 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function damaged(path: string, cause?: unknown): ToolError {
  return new ToolError("invalid", `${path} is not a static embedding model, or is damaged.`, {
    hint: "Copy it again. It must contain a two-dimensional tensor named embeddings (F32 or F16).",
    cause,
  });
}

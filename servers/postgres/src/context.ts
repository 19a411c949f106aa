import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Postgres } from "./database/connection/postgres.ts";

export const tool = toolFor<Postgres>();
export const resource = resourceFor<Postgres>();
export const prompt = promptFor<Postgres>();

/** For lists and completions, which have no call that could be cancelled: only the time limit ends them. */
export const never = new AbortController().signal;

/** A count, a size or an id in an output. Not `z.int()`, whose bounds of ±2^53 would cost tokens in every schema. */
export const count = z.number();

export const database = z
  .string()
  .optional()
  .describe("Name of a --db database; default: the first.");

export const schema = z.string().optional().describe("Schema; default: the search path, then any.");

export const timeoutMs = z
  .int()
  .min(1)
  .max(3_600_000)
  .optional()
  .describe("Shorter time limit, in milliseconds.");

/** Values for $1, $2, …: any JSON. */
export const params = z
  .array(z.unknown())
  .max(1_000)
  .default([])
  .describe('Values for $1, $2, …, for example [42, "x"].');

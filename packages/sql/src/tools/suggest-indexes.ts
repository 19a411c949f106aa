import { fitting } from "@refmcp/boundary/answer";
import { toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import type { Databases } from "../databases.ts";
import type { Kind } from "../kind.ts";
import { database } from "./fields.ts";

export const suggestIndexesTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.suggestIndexes,
    title: "Suggest indexes",
    description: `Find foreign keys without an index, and redundant indexes to drop; changes nothing. For a slow statement call ${kind.names.explain}.`,
    effect: "read",
    openWorld: false,
    aliases: kind.aliases.suggestIndexes ?? [],
    input: z.strictObject({ limit: fields.limit(20, 100), database: database(kind) }),
    output: z.object({
      suggestions: z.array(
        z.object({
          table: z.string(),
          create: z.string().optional(),
          /** A redundant index. */
          drop: z.string().optional(),
          reason: z.string(),
        }),
      ),
    }),
    async run({ limit, database }, databases, { signal, budget }) {
      const at = await databases.at(database);
      const all = await at.suggestIndexes(limit, { signal });
      return { suggestions: all.slice(0, fitting(all, budget - 300)) };
    },
  });

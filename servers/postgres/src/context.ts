import { promptFor, toolFor } from "@refmcp/core";
import type { Databases } from "@refmcp/sql";
import { sqlTools } from "@refmcp/sql/tools";
import * as z from "zod";
import type { PostgresDatabase } from "./database/database.ts";
import { kind } from "./database/kind.ts";

export type Postgres = Databases<PostgresDatabase>;
export const tool = toolFor<Postgres>();
export const prompt = promptFor<Databases>();

export const database = z.string().optional().describe(kind.database);

/** The tools of every SQL server, each in a toolset. */
export const sharedTools = sqlTools(kind).map((shared) => ({ ...shared, toolset: "data" }));

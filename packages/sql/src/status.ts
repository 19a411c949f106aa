import { ToolError } from "@refmcp/boundary/answer";

/**
 * Why something failed, with what to do next, for lists that are read by people and must not fail.
 *
 * @throws the error itself if it is not for the caller, or if the call was cancelled
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ToolError) || error.kind === "cancelled") throw error;
  return [error.message, error.hint].filter(Boolean).join(" ");
}

/**
 * The only entry of a list of tables that is empty. Clients show an empty list without a reason and often hide an error, so
 * the reason is an entry, which can be read like the others.
 */
export const statusEntry = (database: string, reason: string) => ({
  uri: `status://${encodeURIComponent(database)}`,
  name: "No tables to list",
  title: `No tables to list: ${reason.slice(0, 200)}`,
  description: reason.slice(0, 1_000),
  mimeType: "text/plain",
});

/** What all SQL servers say about that resource. */
export const statusResource = {
  uriTemplate: "status://{database}",
  name: "status",
  title: "Status of a database",
  description:
    "Whether the database can be reached and how many tables it shows, or what to do about it.",
  mimeType: "text/plain",
} as const;

import { hash } from "node:crypto";

/**
 * The unique key of a name of any length: 128 bits of its SHA-256 in base64url. Indexes on the names themselves would double
 * their size on disk, and PostgreSQL's cannot contain long names.
 */
export function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** The key of an observation, unique in its entity: 52 bits of its SHA-256. */
export function contentKey(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 13), 16);
}

import { hash } from "node:crypto";

/**
 * The key under which a name of any length is unique and found: 128 bits of its SHA-256 in base64url. Indexes on the
 * names themselves would double them on the disk, and PostgreSQL's cannot hold long ones.
 */
export function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** The key under which an observation is unique in its entity: 52 bits of its SHA-256. */
export function contentKey(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 13), 16);
}

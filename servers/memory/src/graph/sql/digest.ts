import { hash } from "node:crypto";

/**
 * The key under which a text of any length is unique and found: 128 bits of its SHA-256 in base64url. Indexes on
 * the texts themselves would double them on the disk, and PostgreSQL's cannot hold long ones.
 */
export function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

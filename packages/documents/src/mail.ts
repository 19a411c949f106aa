import PostalMime, { type Address, type Email } from "postal-mime";
import type { Document } from "./document.ts";
import { htmlText } from "./html-text.ts";

const MAX_NAME = 100;

/** A message (RFC 5322): its decoded headers and text, and a list of its attachments. */
export async function mailDocument(bytes: Uint8Array): Promise<Document> {
  const email = await PostalMime.parse(bytes);
  return { label: "Email", parts: [{ name: "", text: messageText(email) }] };
}

/** A mailbox of messages (RFC 4155). */
export async function mailboxDocument(bytes: Uint8Array): Promise<Document> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: { name: string; text: string }[] = [];
  for (const message of messagesOf(file)) {
    // A line of the text that began with "From " was marked.
    const raw = message.toString("latin1").replace(/^>(>*From )/gm, "$1");
    const email = await PostalMime.parse(Buffer.from(raw, "latin1"));
    parts.push({ name: (email.subject ?? "").slice(0, MAX_NAME), text: messageText(email) });
  }
  return { label: "Mailbox", unit: "message", parts };
}

/** The messages of a mailbox, each without the line `From …` that begins it. */
function messagesOf(file: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = file.indexOf("From "); at >= 0; at = file.indexOf("From ", at + 1)) {
    const before = file.subarray(Math.max(0, at - 4), at).toString("latin1");
    if (at === 0 || /\n\r?\n$/.test(before)) starts.push(at);
  }
  return starts.map((start, index) => {
    const end = file.indexOf("\n", start);
    return file.subarray(end < 0 ? file.length : end + 1, starts[index + 1] ?? file.length);
  });
}

function messageText(email: Email): string {
  const { from, to, cc, bcc, date, subject, text, html, attachments } = email;
  const headers = {
    From: from && named(from),
    To: to?.map(named).join(", "),
    Cc: cc?.map(named).join(", "),
    Bcc: bcc?.map(named).join(", "),
    Date: date,
    Subject: subject,
  };
  const lines = Object.entries(headers).filter(([, value]) => value);
  const body = text?.trim() ? text : htmlText(html ?? "");
  const files = attachments.map(({ filename, mimeType, content }) => {
    const size = typeof content === "string" ? content.length : content.byteLength;
    return `- ${filename ?? "(unnamed)"} (${mimeType}, ${size} bytes)`;
  });
  return [
    ...lines.map(([name, value]) => `${name}: ${value?.replace(/\s+/g, " ")}`),
    "",
    body.replace(/\r\n?/g, "\n").trim(),
    ...(files.length > 0 ? ["", "Attachments:", ...files] : []),
  ].join("\n");
}

function named({ name, address, group }: Address): string {
  if (group !== undefined) return `${name}: ${group.map(named).join(", ")};`;
  return name === "" ? address : `${name} <${address}>`;
}

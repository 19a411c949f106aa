import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "list_allowed_directories",
  title: "Allowed directories",
  description:
    "List the directories that this server can read and write. Everything else is refused.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({}),
  run(_input, { guard: { allowed } }) {
    const lines = allowed.directories().map(({ path, source, writable, unavailable }) => {
      const remarks = [source, writable ? "" : "read-only", unavailable ?? ""];
      return `${oneLine(path)} (${remarks.filter(Boolean).join(", ")})`;
    });
    return lines.length === 0
      ? "No directory is allowed."
      : `Allowed directories:\n${lines.join("\n")}`;
  },
});

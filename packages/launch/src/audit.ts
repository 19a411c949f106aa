import { createWriteStream } from "node:fs";
import type { Log } from "@refmcp/core/internal/log";
import type { Service } from "@refmcp/core/internal/protocol/request";

/**
 * Writes one JSON line for each tool call: when, who, which tool, what it may do, how long it took, how long the answer
 * was and how it ended. Arguments and answers are never part of it.
 *
 * @param file lines are appended to it; `-` for stderr.
 */
export function auditTo(
  file: string,
  service: Pick<Service, "tool">,
  log: Log,
): { readonly observe: NonNullable<Service["observe"]>; close(): Promise<void> } {
  const stream =
    file === "-" ? process.stderr : createWriteStream(file, { flags: "a", mode: 0o600 });
  stream.on("error", (error) =>
    log.error(`The audit log ${file} cannot be written: ${error.message}`),
  );
  return {
    observe({ method, params, client }, { ms, characters, result }) {
      if (method !== "tools/call") return;
      const tool = service.tool(String(params.name));
      const line = {
        time: new Date().toISOString(),
        principal: client.principal?.key ?? "",
        // The name of an unknown tool is the client's text.
        tool: tool?.name ?? null,
        effect: tool?.effect ?? null,
        ms: Math.round(ms),
        answer_characters: characters,
        outcome: result,
      };
      stream.write(`${JSON.stringify(line)}\n`);
    },
    close: () =>
      new Promise((resolve) => {
        if (stream === process.stderr) resolve();
        else stream.end(() => resolve());
      }),
  };
}

import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { ToolError } from "@refmcp/boundary/answer";
import { serialize } from "pg-protocol";
import type { Attempt } from "./target.ts";

/** What a CancelRequest needs: how to reach the server, and the key of the session. */
export interface CancelKey {
  readonly host: string;
  readonly port: number;
  readonly attempt: Attempt;
  readonly directTls: boolean;
  readonly processID: number;
  readonly secretKey: number;
}

/** After this time the cancel request is considered lost, and the caller closes the session. */
const CLOSE_WAIT_MS = 2_000;

export const socketTo = (host: string, port: number) =>
  host.startsWith("/") ? connectTcp(`${host}/.s.PGSQL.${port}`) : connectTcp(port, host);

/**
 * Asks the server to cancel a session's statement (PostgreSQL, "Canceling Requests in Progress"), encrypted if the session
 * is. Resolves when the server closes the connection, which it does after handling the request, or after two seconds. The
 * request could hit the session's next statement instead, so a cancelled session is not used again.
 */
export async function sendCancel(key: CancelKey): Promise<void> {
  const { host, port, attempt, directTls } = key;
  const request = serialize.cancel(key.processID, key.secretKey);
  await new Promise<void>((resolve) => {
    const socket = socketTo(host, port);
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    };
    const timer = setTimeout(finish, CLOSE_WAIT_MS);
    const sendEncrypted = () => {
      const tls = connectTls({
        ...attempt,
        ...(directTls ? { ALPNProtocols: ["postgresql"] } : {}),
        ...(isIP(host) === 0 ? { servername: host } : {}),
        socket,
        host,
      });
      tls.on("error", finish).on("close", finish);
      tls.once("secureConnect", () => tls.write(request));
    };
    socket.on("error", finish).on("close", finish);
    socket.once("connect", () => {
      // Left open after writing, as libpq does: PgBouncer drops a request if its sender has closed its side.
      if (attempt === false) socket.write(request);
      else if (directTls) sendEncrypted();
      else {
        socket.once("data", (answer) =>
          answer.toString("latin1") === "S" ? sendEncrypted() : finish(),
        );
        socket.write(serialize.requestSsl());
      }
    });
  });
}

/** Maximum size of a row of an answer, which is in memory several times before its values are cut. */
const MAX_ROW_BYTES = 64 * 1_048_576;
/** Maximum size of other messages: a row of an export is written as it comes. */
const MAX_BYTES = 256 * 1_048_576;
const HEADER = 5;
const DATA_ROW = "D".charCodeAt(0);

/**
 * Watches the protocol's messages (a type, a length, that many bytes) and closes the connection before one that would fill
 * the memory is read. PostgreSQL allows rows of up to 1 GiB.
 *
 * @returns ends it; call it between messages
 */
export function limitMessages(stream: Duplex): () => void {
  const header = Buffer.alloc(HEADER);
  let filled = 0;
  let remaining = 0;
  const watch = (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      const step = Math.min(remaining > 0 ? remaining : HEADER - filled, chunk.length - at);
      if (remaining > 0) remaining -= step;
      else {
        chunk.copy(header, filled, at, at + step);
        filled += step;
      }
      at += step;
      if (filled < HEADER) continue;
      filled = 0;
      remaining = header.readUInt32BE(1) - 4;
      if (remaining > (header[0] === DATA_ROW ? MAX_ROW_BYTES : MAX_BYTES))
        stream.destroy(
          new ToolError(
            "too_large",
            `One row is ${Math.round(remaining / 1_048_576)} MiB, which is too large to read.`,
            {
              hint: "Select part of its large column: left(column, 1000), substring(column FROM 1 FOR 1000), octet_length(column).",
            },
          ),
        );
    }
  };
  stream.prependListener("data", watch);
  return () => stream.removeListener("data", watch);
}

import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Attempt } from "./tls.ts";

/** A CancelRequest needs the server's address and the session's key. */
export interface Session {
  readonly host: string;
  readonly port: number;
  /** Opens a socket through the tunnel, if there is one. */
  readonly through: (() => Socket) | undefined;
  readonly attempt: Attempt;
  readonly directTls: boolean;
  readonly processID: number;
  readonly secretKey: number;
}

const CANCEL_CODE = 80877102;
const SSL_CODE = 80877103;
/** After this time the cancel request is considered lost, and the caller closes the session. */
const CLOSE_WAIT_MS = 2_000;

/**
 * Asks the server to cancel a session's statement (PostgreSQL, "Canceling Requests in Progress"), encrypted if the session
 * is. Resolves when the server closes the connection, which it does after handling the request, or after two seconds. The
 * request could hit the session's next statement instead, so a cancelled session is not used again.
 */
export async function sendCancel(session: Session): Promise<void> {
  await new Promise<void>((resolve) => {
    const { host, port, through } = session;
    const direct = () =>
      host.startsWith("/") ? connectTcp(`${host}/.s.PGSQL.${port}`) : connectTcp(port, host);
    const socket = (through ?? direct)();
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    };
    const timer = setTimeout(finish, CLOSE_WAIT_MS);
    socket.on("error", finish).on("close", finish);
    socket.once("connect", () => {
      // Left open after writing, as libpq does: PgBouncer drops a request if its sender has closed its side.
      if (session.attempt === false) socket.write(request(session));
      else if (session.directTls) secured(socket, session, finish);
      else {
        socket.once("data", (answer) =>
          answer.toString("latin1") === "S" ? secured(socket, session, finish) : finish(),
        );
        socket.write(packet(SSL_CODE));
      }
    });
  });
}

function secured(socket: Socket, session: Session, finish: () => void): void {
  const tls = connectTls({
    ...(session.attempt === false ? {} : session.attempt),
    ...(session.directTls ? { ALPNProtocols: ["postgresql"] } : {}),
    ...(isIP(session.host) === 0 ? { servername: session.host } : {}),
    socket,
    host: session.host,
  });
  tls.on("error", finish).on("close", finish);
  tls.once("secureConnect", () => tls.write(request(session)));
}

function request({ processID, secretKey }: Session): Buffer {
  return packet(CANCEL_CODE, processID, secretKey);
}

function packet(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + 4 * numbers.length);
  [bytes.length, ...numbers].forEach((number, index) => void bytes.writeInt32BE(number | 0, index * 4));
  return bytes;
}

import { ToolError } from "@refmcp/boundary/answer";
import type { Client, QueryResultRow } from "pg";
import { catalogRows } from "./catalog.ts";
import { Connection } from "./connection.ts";
import { connectionFailure } from "./errors.ts";
import type { CancelKey } from "./protocol.ts";
import { ROLE_QUERY, type RoleFacts } from "./role.ts";
import type { Address, Attempt, Target } from "./target.ts";

/**
 * Connects to the first address that works, with or without TLS according to sslmode, and reads the role.
 *
 * @throws ToolError `unavailable` that says why; never with a password.
 */
export async function openConnection(target: Target): Promise<Connection> {
  // The second round of prefer-standby accepts any server.
  const { wanted: attribute, addresses } = target;
  const rounds = attribute === "prefer-standby" ? (["standby", "any"] as const) : [attribute];
  let last: unknown;
  for (const wanted of rounds)
    for (const address of addresses)
      for (const attempt of address.attempts)
        try {
          const connection = await connect(target, address, attempt);
          const { standby, readonly } = connection.role;
          // libpq's target_session_attrs.
          const kinds = {
            "read-write": !standby && !readonly,
            "read-only": standby || readonly,
            primary: !standby,
            standby,
            any: true,
          };
          if (kinds[wanted]) return connection;
          await connection.close();
          last = new ToolError("unavailable", `No server of ${target.label} is ${wanted}.`, {
            hint: "Check target_session_attrs and the hosts of the connection URL.",
          });
          // Not again without TLS: it is the same server.
          break;
        } catch (error) {
          if (error instanceof ToolError) throw error;
          last = error;
        }
  throw last instanceof ToolError ? last : connectionFailure(last, target.label);
}

async function connect(target: Target, address: Address, attempt: Attempt): Promise<Connection> {
  const { host, port } = address;
  const { directTls, options } = target;
  // Loaded with the first connection, so that listing tools does not wait for it.
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    host,
    port,
    user: target.user,
    database: target.database,
    password: () => passwordOf(address, target),
    ssl: attempt,
    ...(directTls && attempt !== false ? { sslnegotiation: "direct" as const } : {}),
    enableChannelBinding: target.channelBinding,
    connectionTimeoutMillis: target.connectTimeoutMs,
    application_name: target.applicationName,
    ...(options === undefined ? {} : { options }),
    keepAlive: true,
  });
  let key: Pick<CancelKey, "processID" | "secretKey"> | undefined;
  client.connection.once("backendKeyData", (data: NonNullable<typeof key>) => {
    key = data;
  });
  // Errors after connecting surface at the next use of the connection.
  client.on("error", () => undefined);
  const isBound = target.channelBinding ? requireBinding(client) : () => true;
  await client.connect();
  if (!isBound()) {
    await client.end();
    throw new Error(NOT_BOUND);
  }
  try {
    const [role] = await catalogRows<RoleFacts & QueryResultRow>(client, { text: ROLE_QUERY });
    if (role === undefined) throw new Error("the server did not report the role");
    return new Connection(client, role, key && { ...key, host, port, attempt, directTls });
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

const NOT_BOUND = "the server does not offer channel binding";

/**
 * libpq's `channel_binding=require`, which pg does in part: it binds the login to the server's certificate only if the server
 * offers it. Closes the connection before a password, or a proof of it, is sent without binding.
 *
 * @returns whether the login was bound
 */
function requireBinding(client: Client): () => boolean {
  let isBound = false;
  const refuse = () => client.connection.stream.destroy(new Error(NOT_BOUND));
  client.connection.once(
    "authenticationSASL",
    ({ mechanisms }: { mechanisms: readonly string[] }) => {
      isBound = mechanisms.includes("SCRAM-SHA-256-PLUS");
      if (!isBound) refuse();
    },
  );
  client.connection.once("authenticationCleartextPassword", refuse);
  client.connection.once("authenticationMD5Password", refuse);
  return () => isBound;
}

function passwordOf(address: Address, target: Target): string {
  const { password, problem } = address.password();
  if (password) return password;
  throw new ToolError(
    "unavailable",
    `The server requires a password for ${target.label}, but none is configured.${problem === undefined ? "" : ` ${problem}`}`,
    { hint: "Put it into the URL (DATABASE_URL in the host's env), PGPASSWORD or ~/.pgpass." },
  );
}

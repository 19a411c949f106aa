// Preloaded into a client and the processes it starts: records and refuses every connection to another machine.
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";

const log = new URL(import.meta.url).searchParams.get("log");
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given;
  const { path, host = "localhost" } =
    typeof first === "object" ? first : { host: typeof second === "string" ? second : undefined };
  if (path || /^(localhost|127(\.\d+){3}|::1)$/.test(host)) return connect.apply(this, given);
  appendFileSync(log, `${host}\n`);
  throw new Error(`${host} is another machine.`);
};

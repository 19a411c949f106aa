// Preloaded into a client and the processes it starts: records and refuses every connection to another machine.
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";

const log = new URL(import.meta.url).searchParams.get("log");
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const { path, host = "localhost" } =
    typeof first === "object" ? first : { host: typeof second === "string" ? second : undefined };
  if (path || /^(localhost|127(\.\d+){3}|::1)$/.test(host)) return connect.apply(this, args);
  appendFileSync(log, `${host}\n`);
  throw new Error(`${host} is another machine.`);
};

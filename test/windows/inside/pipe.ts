// Serves HTTP on a named pipe of Windows, and asks whether the server is there.
import { spawn } from "node:child_process";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { untilListening } from "@refmcp/testing/connect";
import { ENVIRONMENT, input, report } from "./lines.ts";

const { bin, args } = input<{ bin: string; args: string[] }>();
const env = { ...process.env, ...ENVIRONMENT };
const start = (address: string) =>
  spawn(process.execPath, [bin, ...args, "--http", address], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });

const server = await untilListening(start("unix:\\\\.\\pipe\\refmcp-test"));
const answer = await new Promise<string>((resolve, reject) => {
  request({ socketPath: "\\\\.\\pipe\\refmcp-test", path: "/healthz" }, (response) =>
    resolve(text(response)),
  )
    .on("error", reject)
    .end();
});
report({ about: "pipe", url: server.url.href, answer });
await server.stop("SIGKILL");

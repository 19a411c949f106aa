// `pnpm conformance`: the official conformance suite and the Inspector, each in the version that the tests pin, against a
// server built on core and against every real server. They come from the npm registry, with the Node.js that they need.
import { runVitest } from "./lib/setup.mjs";

const files = ["conformance/fixture.long.test.ts", "conformance/servers.long.test.ts"];
process.exitCode = await runVitest([...files, ...process.argv.slice(2)]);

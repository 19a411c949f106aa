// `npm run setup`: installs the dependencies and builds every package; runs no server and installs nothing else.
import { build, install } from "./lib/setup.mjs";

await install();
await build();

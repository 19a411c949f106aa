import { fileURLToPath } from "node:url";
import { contract } from "@refmcp/testing";
import { server } from "../src/server.ts";
import { world } from "./fixture.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
contract({ server, bin: here("../dist/bin.js"), snapshots: here("."), world });

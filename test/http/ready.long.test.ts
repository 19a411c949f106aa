import { SERVERS } from "../servers.ts";
import { testReady } from "./ready.ts";

testReady(SERVERS);

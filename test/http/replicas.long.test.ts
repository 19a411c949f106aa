import { SERVERS } from "../servers.ts";
import { testReplicas } from "./replicas.ts";

testReplicas(SERVERS);

import { testReplicas } from "./replicas.ts";

// One with files and one with rows; replicas.long.test.ts has the others.
testReplicas(["filesystem", "sqlite"]);

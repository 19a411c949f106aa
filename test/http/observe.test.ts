import { testObservation } from "./observe.ts";

// All are bundled alike; observe.long.test.ts has the others.
testObservation(["filesystem"]);

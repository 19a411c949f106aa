import { SERVERS } from "../servers.ts";
import { testObservation } from "./observe.ts";

testObservation(SERVERS);

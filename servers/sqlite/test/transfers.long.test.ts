// All transfers.
import "./transfers.test.ts";

// All attacks.
import "./attacks.test.ts";

// In both eras of the protocol.
import "./confirm.test.ts";

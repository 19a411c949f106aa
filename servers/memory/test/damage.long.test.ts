// Every kind of damage.
import "./damage.test.ts";

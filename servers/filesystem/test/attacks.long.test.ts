// More races, and larger files.
import "./attacks.test.ts";

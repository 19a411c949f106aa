// The same races, ten times as long.
import "./races.test.ts";

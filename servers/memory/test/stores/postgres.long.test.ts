// The whole suite of stores.
import "./postgres.test.ts";

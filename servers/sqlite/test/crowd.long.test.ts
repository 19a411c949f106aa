// With 10,000 tables.
import "./crowd.test.ts";

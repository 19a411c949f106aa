// Every attack.
import "./submodule-update.test.ts";

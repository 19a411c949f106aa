// Stands in for the SDK's JSON Schema validator in bundles; see scripts/bundle.mjs.
export { default as process } from "node:process";

export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new TypeError("bundled servers check with zod only");
  }
}
